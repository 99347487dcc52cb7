from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_evalplug.errors import DataError
from pytest_evalplug.run.foreign.lm_eval import LmEvalRun
from tests.run.foreign.conftest import JSON

DATE = "2026-11-30T12-00-00.0"


def test_generation_with_two_filters(lm_eval: Path) -> None:
    run = LmEvalRun(lm_eval)
    assert (
        sorted(run.tables()) == sorted(run.predicted()) == [("chat", "asked"), ("small", "chosen")]
    )
    result = run.result("chat", "asked")
    assert result is not None
    assert result.metrics == {"exact_match,strict": 50, "exact_match,flexible": 50}
    assert (result.mode, result.num_correct, result.num_scored) == ("gen", 3, 6)
    # lm-eval says 0.2236
    assert result.stderr["exact_match,strict"] == pytest.approx(22.3607, abs=1e-4)
    assert result.details is not None
    wrong = result.details[1]
    assert (wrong.index, wrong.pred, wrong.answer, wrong.correct) == ("1", "[invalid]", "15", False)
    record = run.records("chat", "asked")["1"]
    assert record["origin_prompt"][-1]["content"].endswith("Answer with a number.")
    assert (record["prediction"], record["gold"]) == ("It is 1", "15")
    assert record["doc"]["answer"] == "15"


def test_multiple_choice(lm_eval: Path) -> None:
    run = LmEvalRun(lm_eval)
    result = run.result("small", "chosen")
    assert result is not None
    assert result.metrics == {"acc": pytest.approx(200 / 3), "acc_norm": 50}
    assert (result.mode, result.num_correct) == ("ll", 4)
    assert result.details is not None
    assert (result.details[1].pred, result.details[1].answer) == ("D", "B")
    record = run.records("small", "chosen")["1"]
    assert record["continuations"] == [" Uranus", " Jupiter", " Mercury", " Earth"]
    assert record["logprobs"][3] == max(record["logprobs"])
    assert record["pred_label"] == record["prediction"] == "D"


def test_the_latest_of_several_evaluations_counts(lm_eval: Path) -> None:
    folder = lm_eval / "chat"
    later = json.loads((folder / f"results_{DATE}.json").read_text())
    later["results"]["asked"] = {"exact_match,strict": 0.25, "alias": "asked"}
    (folder / "results_2027-01-01T12-00-00.0.json").write_text(json.dumps(later))
    run = LmEvalRun(folder)  # a model's folder will do
    result = run.result("chat", "asked")
    assert result is not None
    assert (result.metrics, result.details) == ({"exact_match": 25}, None)
    assert run.predicted() == []
    assert run.records("chat", "asked") == {}


def test_what_is_no_share_keeps_its_scale(lm_eval: Path) -> None:
    results, samples = (
        lm_eval / "small" / name
        for name in (f"results_{DATE}.json", f"samples_chosen_{DATE}.jsonl")
    )
    content = json.loads(results.read_text())
    content["results"]["chosen"] = {
        "perplexity,none": 7.5,
        "brier_score,none": 0.25,
        "bleu,none": 30,
    }
    content["higher_is_better"]["chosen"] = {"brier_score": False}
    results.write_text(json.dumps(content))
    rows = [json.loads(line) for line in samples.read_text().splitlines()]
    for row in rows:
        del row["acc"], row["acc_norm"]
        row.update(perplexity=7.5, brier_score=0.25, bleu=["text", "text"], metrics=[])
    samples.write_text("\n".join(map(json.dumps, rows)))
    result = LmEvalRun(lm_eval).result("small", "chosen")
    assert result is not None
    assert result.metrics == {"perplexity": 7.5, "brier_score": 0.25, "bleu": 30}
    assert result.stderr == {"perplexity": 0, "brier_score": 0}
    assert result.num_correct is None


def test_a_task_can_not_name_a_file_elsewhere(lm_eval: Path) -> None:
    path = lm_eval / "chat" / f"results_{DATE}.json"
    content = json.loads(path.read_text())
    content["configs"]["../../secret"] = {}
    path.write_text(json.dumps(content))
    assert ("chat", "../../secret") not in LmEvalRun(lm_eval).tables()


@settings(max_examples=30)
@given(
    part=st.dictionaries(st.sampled_from(["acc,none", "acc_stderr,none", "x"]), JSON),
    config=JSON,
    row=st.dictionaries(
        st.sampled_from(["target", "arguments", "resps", "filtered_resps", "filter", "acc", "doc"]),
        JSON,
    ),
)
def test_whatever_stands_in_the_files(
    tmp_path_factory: pytest.TempPathFactory, part: Any, config: Any, row: Any
) -> None:
    folder = tmp_path_factory.mktemp("lm")
    content = {"results": {"t": part}, "configs": {"t": config}, "higher_is_better": config}
    (folder / f"results_{DATE}.json").write_text(json.dumps({**content, "model_name": config}))
    (folder / f"samples_t_{DATE}.jsonl").write_text(json.dumps({"doc_id": 0, **row}) + "\n")
    run = LmEvalRun(folder)
    [(model, task)] = run.tables()
    result = run.result(model, task)
    assert result is not None
    assert all(isinstance(value, float) for value in result.metrics.values())
    assert run.records(model, task)["0"]["index"] == "0"


@pytest.mark.parametrize("line", ["{}", "[]", '{"doc_id": "x"}', '{"doc_id": 1', "\x00"])
def test_damaged_samples(lm_eval: Path, line: str) -> None:
    path = lm_eval / "chat" / f"samples_asked_{DATE}.jsonl"
    path.write_text(f"{path.read_text()}{line}\n")
    run = LmEvalRun(lm_eval)
    with pytest.raises(DataError, match="line 13 is no sample"):
        run.result("chat", "asked")
    with pytest.raises(DataError, match="line 13 is no sample"):
        run.records("chat", "asked")
