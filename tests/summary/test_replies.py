from __future__ import annotations

from typing import Any

import pytest

from pytest_evalplug.summary.replies import Replies, extract_rate, was_extracted
from pytest_evalplug.types import Detail


def detail(pred: Any, **more: Any) -> Detail:
    return Detail("0", "s", "d", pred, **more)


def test_the_rate_is_of_measured_samples() -> None:
    found = [detail("A"), detail(""), detail(None), detail([]), detail(0), detail(" ")]
    assert extract_rate(found) == 50
    assert extract_rate([*found, detail(None, error="down")]) == 50
    assert extract_rate([detail(None, error="down")]) is None
    assert extract_rate([]) is None


def test_the_evaluators_own_postprocessor_counts() -> None:
    assert not was_extracted(detail("the reply", metadata={"pred": ""}))
    assert was_extracted(detail("", metadata={"pred": "A"}))


def test_replies_and_cut_ones() -> None:
    records: list[dict[str, Any]] = [
        {"prediction": "a", "finish_reason": "stop"},
        {"prediction": "b", "finish_reason": "length"},
        {"prediction": "c", "dropped_shots": 2, "imported": {"from": "run"}},
        {"error": "down"},
        {"index": "4"},
    ]
    found = Replies.of(records, lengths=False)
    assert (found.num_replies, found.num_truncated, found.num_fewer_shots) == (3, 1, 1)
    assert found.num_imported == 1
    assert found.length_stats() == {}


def test_lengths() -> None:
    records = [
        {"prediction": "x" * n, "usage": {"completion_tokens": n // 10}} for n in range(1, 101)
    ]
    assert Replies.of(records).length_stats() == {
        "characters": {"n": 100, "mean": 50.5, "median": 50.5, "p95": 95, "max": 100},
        "tokens": {"n": 100, "mean": 4.6, "median": 5, "p95": 9, "max": 10},
    }


def test_lengths_of_candidates_and_of_what_is_there() -> None:
    records: list[dict[str, Any]] = [
        {"prediction": ["a", "bcd"]},
        {"prediction": None},
        {"error": "down"},
        {"prediction": "", "usage": {"prompt_tokens": 3}},
    ]
    assert Replies.of(records).length_stats() == {
        "characters": {"n": 3, "mean": pytest.approx(4 / 3), "median": 1, "p95": 3, "max": 3}
    }
    assert Replies.of([{"error": "down"}]).length_stats() == {}
