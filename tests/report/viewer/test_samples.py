from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_evalplug.report.viewer.report import write_report
from pytest_evalplug.report.viewer.samples import SampleTable
from pytest_evalplug.types import Detail
from tests.report.viewer.runs import HEADER, Given, embedded, make_run, opened, result


def table(*given: Given) -> tuple[dict[str, Any], list[list[dict[str, Any]]]]:
    """Return a table's index and chunks."""
    details = [sample.detail(i, "main") for i, sample in enumerate(given)]
    records = {str(i): sample.record(i, "main") for i, sample in enumerate(given)}
    samples = SampleTable(result("m", "quiz", "quiz", "main", details), records)
    chunks = [json.loads(text) for text in samples.chunks()]
    return json.loads(samples.index()), chunks


def test_a_run_comes_back_out_of_its_page(tmp_path: Path) -> None:
    given = [Given("a"), Given("b", reply="5", pred="5", correct=False), Given("c", error="down")]
    run = make_run(tmp_path, {("m", "main"): given})
    blocks = embedded(write_report(opened(run)).read_text(encoding="utf-8"))
    assert list(blocks) == ["run", "t0/0", "t0/index"]
    assert blocks["run"]["rows"][0]["scores"]["m"]["value"] == 50
    index, texts = blocks["t0/index"], blocks["t0/0"]
    assert index["ids"] == ["a", "b", "c"]
    assert index["outcomes"] == "rwe"
    assert index["shared"] == {"messages": [], "text": HEADER}
    for sample, text in zip(given, texts, strict=True):
        record = sample.record(0, "main")
        assert index["shared"]["text"] + text["prompt"] == record["origin_prompt"]
        assert text["record"].get("prediction") == record.get("prediction")
        assert text["detail"]["pred"] == sample.pred


def test_keys_of_predictions_are_left_out() -> None:
    _, [[sample]] = table(Given("a"))
    assert "key" not in sample["record"]


def test_outcomes() -> None:
    index, _ = table(
        Given("a"),
        Given("b", correct=False),
        Given("c", correct=None),
        Given("d", error="no reply"),
        Given("e", error="x", metadata={"skipped": "no choices"}),
    )
    assert index["outcomes"] == "rwnes"


def test_flags_are_positions() -> None:
    index, _ = table(
        Given("a"),
        Given("b", pred="", correct=False),
        Given("c", more={"finish_reason": "length"}),
        Given("d", pred="", error="no reply"),
        Given("e", pred="given", metadata={"pred": None}, correct=False),
    )
    assert index["no_answer"] == [1, 4]
    assert index["truncated"] == [2]


def test_lengths_tokens_and_short_texts() -> None:
    index, _ = table(
        Given("a", reply="four", pred="p" * 100, more={"usage": {"completion_tokens": 7}}),
        Given("b", reply=["one", "two"], pred=["x"]),
    )
    assert index["chars"] == [4, 6]
    assert index["tokens"] == [7, None]
    assert index["pred"] == ["p" * 80 + "…", '["x"]']


def test_columns_that_say_nothing_are_left_out() -> None:
    index, _ = table(Given("a"))
    assert not {"tokens", "score", "confidence"} & {*index}


def test_confidence_is_the_chosen_options_share() -> None:
    index, _ = table(
        Given("a", reply="A", more={"continuations": [" x", " y"], "logprobs": [-1.0, -1.0]}),
        Given(
            "b",
            reply="B",
            more={"continuations": [" x", " y"], "loss": [1.0, 3.0], "ppl": [9.0, 2.0]},
        ),
        Given("c", more={"logprobs": [-1.0, -2.0]}),
        Given("d", more={"continuations": [" x", " y"], "logprobs": ["odd", None]}),
    )
    assert index["confidence"] == [0.5, 0.1192, None, None]
    assert index["chars"] == [None, None, 8, None]


def test_chunks_begin_where_the_index_says() -> None:
    given = [Given(f"s{i}", reply="x" * 100_000) for i in range(7)]
    index, chunks = table(*given)
    assert index["starts"] == [0, 3, 6]
    assert [len(chunk) for chunk in chunks] == [3, 3, 1]


def test_a_number_that_is_none_is_null() -> None:
    index, [[sample]] = table(Given("NaN", reply="Infinity", more={"x": [float("nan"), 1e999]}))
    assert sample["record"]["x"] == [None, None]
    assert sample["record"]["prediction"] == "Infinity"
    assert index["ids"] == ["NaN"]


def test_without_details_the_records_are_shown() -> None:
    content = result("m", "quiz", "quiz", "main", [])
    object.__setattr__(content, "details", None)
    samples = SampleTable(content, {"0": Given("a").record(0, "main")})
    [[sample]] = [json.loads(text) for text in samples.chunks()]
    assert json.loads(samples.index())["outcomes"] == "n"
    assert sample["record"]["prediction"] == "It is 4."


def test_a_detail_without_a_record_is_shown() -> None:
    lost = Detail("9", "lost", "main", error="not run")
    samples = SampleTable(result("m", "quiz", "quiz", "main", [lost]), {})
    [[sample]] = [json.loads(text) for text in samples.chunks()]
    assert sample["record"] == {}
    assert sample["prompt"] is None


@pytest.mark.parametrize("reply", ["</script><script>alert(1)</script>", "\u2028\ud800\x1b[31m"])
def test_no_reply_ends_its_block(tmp_path: Path, reply: str) -> None:
    run = make_run(tmp_path, {("m", "main"): [Given("a", reply=reply)]})
    blocks = embedded(write_report(opened(run)).read_text(encoding="utf-8"))
    assert blocks["t0/0"][0]["record"]["prediction"] == reply
