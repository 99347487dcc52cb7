from __future__ import annotations

from typing import Any

import pytest

from pytest_evalplug.run.results import ResultFile
from pytest_evalplug.summary.result import build_result
from pytest_evalplug.types import AggScore, Detail


def build(details: list[Detail], scores: list[AggScore], **more: Any) -> ResultFile:
    return build_result(
        scores,
        details,
        model="qwen",
        dataset="gsm8k",
        benchmark="gsm8k",
        subset="main",
        version="1d7fe4",
        mode="gen",
        **more,
    )


def details(right: int, wrong: int, errors: int) -> list[Detail]:
    kinds = [(True, None)] * right + [(False, None)] * wrong + [(None, "server down")] * errors
    return [
        Detail(str(index), f"main-{index}", "main", correct=correct, error=error)
        for index, (correct, error) in enumerate(kinds)
    ]


def test_four_states_are_counted_apart() -> None:
    built = build(details(80, 10, 10), [], num_skipped=5, partial=True)
    counts = (built.num_samples, built.num_scored, built.num_errors, built.num_skipped)
    assert counts == (105, 90, 10, 5)
    assert built.num_correct == 80
    assert built.partial


def test_numbers_of_scoring_are_taken_as_they_are() -> None:
    metadata = {"stderr": 0.0, "interval": (80, 97), "if_errors_wrong": 80.0, "note": "x"}
    scores = [
        AggScore("accuracy", 88.8, "main", 90, metadata=metadata),
        AggScore("bleu", 3, "main", 90),
    ]
    built = build(details(80, 10, 10), scores)
    assert built.metrics == {"accuracy": 88.8, "bleu": 3}
    assert built.stderr == {"accuracy": 0.0}
    assert built.intervals == {"accuracy": (80, 97)}
    assert built.if_errors_wrong == {"accuracy": 80.0}


@pytest.mark.parametrize(("right", "wrong", "expected"), [(0, 3, 0), (0, 0, None)])
def test_no_right_answer_is_not_no_verdict(right: int, wrong: int, expected: int | None) -> None:
    assert build(details(right, wrong, 1), []).num_correct == expected


def test_what_scoring_says_of_its_metrics() -> None:
    scores = [
        AggScore("accuracy", 50.0, "main", 8, metadata={"other": {"note": "text"}}),
        AggScore("pass@4", 80.0, "main", 2, agg_method="repeats", metadata={"listed": True}),
        AggScore("G-Pass@4_0.5", 60.0, "main", 2, agg_method="repeats", metadata={"listed": False}),
    ]
    built = build(details(4, 4, 0), scores, repeats=4, k=(4,), num_distinct=2)
    assert built.other == {"note": "text"}
    assert built.unlisted == ["G-Pass@4_0.5"]
    assert built.metric_samples == {"pass@4": 2, "G-Pass@4_0.5": 2}
    assert (built.samples_of("pass@4"), built.samples_of("accuracy")) == (2, 8)
    assert (built.repeats, built.k, built.num_distinct) == (4, [4], 2)


def test_replies_are_described_where_asked_for() -> None:
    every = details(1, 1, 1)
    every[0].pred = "A"
    records = [
        {"prediction": "A", "finish_reason": "length"},
        {"prediction": "abc", "finish_reason": "stop"},
        {"error": "server down"},
    ]
    plain = build(every, [], records=records)
    assert (plain.num_truncated, plain.num_replies, plain.metrics) == (1, 2, {})
    assert plain.res_length is None
    full = build(every, [], records=records, with_extract_rate=True, with_res_length=True)
    assert (full.metrics, full.scores) == ({"extract_rate": 50.0}, {})
    assert full.res_length is not None
    assert full.res_length["characters"]["max"] == 3


def test_nothing_measured_has_no_extraction_rate() -> None:
    assert build(details(0, 0, 2), [], with_extract_rate=True).metrics == {}


def test_details_are_kept_unless_told_otherwise() -> None:
    every = details(1, 0, 1)
    assert build(every, []).details == every
    assert build(every, [], keep_details=False).details is None
