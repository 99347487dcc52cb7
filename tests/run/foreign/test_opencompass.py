from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_evalplug.errors import DataError
from pytest_evalplug.run.foreign.opencompass import OpenCompassRun
from pytest_evalplug.summary.comparison import compare_results
from tests.run.foreign.conftest import JSON


def test_tables(opencompass: Path) -> None:
    run = OpenCompassRun(opencompass)
    asked = [("chat", name) for name in ("equal", "repeated", "with_details")]
    assert run.tables() == run.predicted() == [*asked, ("small", "chosen")]
    assert run.name == "20261130_120000"
    assert run.result("chat", "chosen") is None
    assert run.records("chat", "chosen") == {}


@pytest.mark.parametrize("dataset", ["with_details", "equal"])
def test_right_and_wrong(opencompass: Path, dataset: str) -> None:
    result = OpenCompassRun(opencompass).result("chat", dataset)
    assert result is not None
    assert (result.metrics, result.mode) == ({"accuracy": 50}, "gen")
    assert (result.num_correct, result.num_scored, result.num_samples) == (3, 6, 6)
    assert result.stderr == {"accuracy": pytest.approx(22.36, abs=0.01)}
    assert result.intervals["accuracy"] == pytest.approx((18.76, 81.24), abs=0.01)
    assert result.details is not None
    wrong = result.details[1]
    assert (wrong.index, wrong.pred, wrong.answer) == ("1", "It is 1", "15")
    assert (wrong.correct, wrong.score) == (False, {"accuracy": 0})


def test_a_result_without_its_details(opencompass: Path) -> None:
    result = OpenCompassRun(opencompass).result("chat", "equal", details=False)
    assert result is not None
    assert (result.details, result.num_correct) == (None, 3)


def test_perplexities(opencompass: Path) -> None:
    run = OpenCompassRun(opencompass)
    result = run.result("small", "chosen")
    assert result is not None
    assert (result.mode, result.num_correct) == ("ppl", 4)
    record = run.records("small", "chosen")["1"]
    assert (record["prediction"], record["pred_label"], record["gold"]) == ("D", "D", "B")
    assert record["continuations"] == list("ABCD")
    assert min(record["ppl"]) == record["ppl"][3]


def test_repeats_and_shards(opencompass: Path) -> None:
    run = OpenCompassRun(opencompass)
    result = run.result("chat", "repeated")
    assert result is not None
    assert (result.repeats, result.num_rows, result.num_scored) == (2, 6, 12)
    assert result.metrics["accuracy"] == 50
    assert result.stderr == {"accuracy": pytest.approx(22.36, abs=0.01)}  # of six samples
    listed = [name for name in result.metrics if name not in result.unlisted]
    assert listed == ["accuracy", "mG-Pass@1", "mG-Pass@2"]
    assert result.details is not None
    assert [d.index for d in result.details] == [str(i) for i in range(12)]
    assert result.details[7].answer == result.details[1].answer == "15"
    records = run.records("chat", "repeated")
    assert list(records) == [str(i) for i in range(12)]
    assert records["7"]["gold"] == "15"
    assert records["0"]["origin_prompt"][0]["role"] == "user"
    assert not records["0"]["origin_prompt"][0]["content"].startswith("{")


def test_one_file_counts_before_its_shards(opencompass: Path) -> None:
    folder = opencompass / "predictions" / "chat"
    (folder / "equal_0.json").write_text('{"0": {"prediction": "of an earlier try"}}')
    assert OpenCompassRun(opencompass).records("chat", "equal")["0"]["prediction"] == "113"


def rewrite(path: Path, **changes: Any) -> None:
    content = json.loads(path.read_text())
    path.write_text(json.dumps({**content, **changes}))


def test_details_as_older_versions_wrote_them(opencompass: Path) -> None:
    path = opencompass / "results" / "chat" / "equal.json"
    details = {
        "0": {"pred": ["A", "B"], "refr": "A", "is_correct": True},
        "10": {"pred": "B", "refr": "A", "is_correct": False},
        "2": {"pred": "A", "refr": "A", "is_correct": True},
        "type": "GEN",
    }
    rewrite(path, accuracy=200 / 3, details=details)
    result = OpenCompassRun(opencompass).result("chat", "equal")
    assert result is not None
    assert result.details is not None
    assert [d.correct for d in result.details] == [True, True, False]
    assert result.details[0].pred == ["A", "B"]
    assert "accuracy" in result.stderr


def verdicts(*correct: bool | None) -> list[dict[str, Any]]:
    return [{"pred": "A", "answer": "A"} | ({} if c is None else {"correct": c}) for c in correct]


def test_a_rounded_value_is_the_mean_of_its_verdicts(opencompass: Path) -> None:
    path = opencompass / "results" / "chat" / "equal.json"
    rewrite(path, accuracy=66.67, details=verdicts(True, True, False))
    result = OpenCompassRun(opencompass).result("chat", "equal")
    assert result is not None
    assert result.metrics["accuracy"] == pytest.approx(200 / 3, abs=1e-12)
    assert "accuracy" in result.stderr
    assert compare_results(result, result).test == "McNemar"
    rewrite(path, accuracy=66.68)
    result = OpenCompassRun(opencompass).result("chat", "equal")
    assert result is not None
    assert (result.metrics, result.stderr) == ({"accuracy": 66.68}, {})


def test_a_detail_without_a_verdict_is_not_wrong(opencompass: Path) -> None:
    path = opencompass / "results" / "chat" / "equal.json"
    rewrite(path, accuracy=75.0, details=verdicts(True, None, True, False, True, None))
    result = OpenCompassRun(opencompass).result("chat", "equal")
    assert result is not None
    assert result.details is not None
    assert [d.score.get("accuracy") for d in result.details] == [1, None, 1, 0, 1, None]
    assert (result.samples_of("accuracy"), result.num_correct) == (4, 3)
    assert result.stderr == {"accuracy": pytest.approx(25)}
    found = compare_results(result, result)
    assert (found.old_n, found.num_pairs, found.test) == (4, 4, "McNemar")


def test_what_an_evaluator_could_not_do(opencompass: Path) -> None:
    path = opencompass / "results" / "chat" / "equal.json"
    path.write_text('{"error": "preds and refrs have different length"}')
    result = OpenCompassRun(opencompass).result("chat", "equal")
    assert result is not None
    assert (result.error, result.metrics) == ("preds and refrs have different length", {})
    assert result.details is None


def test_hostile_values_are_no_numbers(opencompass: Path) -> None:
    path = opencompass / "results" / "chat" / "equal.json"
    rewrite(path, accuracy="__import__('os')", nan=float("nan"), details=[3, None, {"pred": []}])
    result = OpenCompassRun(opencompass).result("chat", "equal")
    assert result is not None
    assert result.metrics == {}
    assert result.other["accuracy"] == "__import__('os')"
    assert result.num_correct is None


NAMES = st.sampled_from(
    [*("example_abbr", "pred", "predictions", "answer", "refr", "correct", "is_correct", "type")]
)


@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])  # a busy machine is
@given(
    metrics=st.dictionaries(st.sampled_from(["accuracy", "score", "a/b", "error"]), JSON),
    details=JSON | st.lists(st.dictionaries(NAMES, JSON), max_size=4),
    record=st.dictionaries(st.sampled_from(["origin_prompt", "prediction", "label: A"]), JSON),
)
def test_whatever_stands_in_the_files(
    tmp_path_factory: pytest.TempPathFactory, metrics: Any, details: Any, record: Any
) -> None:
    run = tmp_path_factory.mktemp("run")
    for folder, content in (
        ("results", {**metrics, "details": details}),
        ("predictions", {"0": record}),
    ):
        (run / folder / "m").mkdir(parents=True)
        (run / folder / "m" / "d.json").write_text(json.dumps(content))
    opened = OpenCompassRun(run)
    result = opened.result("m", "d")
    assert result is not None
    assert all(isinstance(value, float) for value in result.metrics.values())
    assert opened.records("m", "d")["0"]["index"] == "0"


@pytest.mark.parametrize("text", ["", "[1]", "{", "\udcff", "[" * 100_000])
def test_damaged_results(opencompass: Path, text: str) -> None:
    path = opencompass / "results" / "chat" / "equal.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(DataError, match=r"equal\.json: the file can't be read"):
        OpenCompassRun(opencompass).result("chat", "equal")


@pytest.mark.parametrize("content", ['{"a": {}}', '{"0": "text"}', '{"-1": {}}'])
def test_damaged_predictions(opencompass: Path, content: str) -> None:
    (opencompass / "predictions" / "chat" / "equal.json").write_text(content)
    with pytest.raises(DataError, match="not an object of records by number"):
        OpenCompassRun(opencompass).records("chat", "equal")
