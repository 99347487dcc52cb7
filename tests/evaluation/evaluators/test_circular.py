from __future__ import annotations

from typing import Any

import pytest

from pytest_evalplug.errors import ConfigError, EvalplugError
from pytest_evalplug.evaluation.evaluators.circular import CircularEvaluator


def rows(*patterns: str, qid: str = "0") -> list[dict[str, Any]]:
    return [{"qid": qid, "circular_pattern": pattern} for pattern in patterns]


FOUR = ("ABCD", "BCDA", "CDAB", "DABC")


def test_a_question_counts_if_all_its_versions_are_right() -> None:
    test_set = [*rows(*FOUR), *rows(*FOUR, qid="1")]
    result = CircularEvaluator().score(list("ABCDABCA"), list("ABCDABCD"), test_set)
    assert result == {
        "perf_circular": 50.0,
        "more_1_circular": 100.0,
        "more_2_circular": 100.0,
        "more_3_circular": 100.0,
        "acc_circular": 87.5,
        "acc_origin": 100.0,
    }


def test_the_order_of_samples_does_not_matter() -> None:
    test_set = [*rows("BA", "AB"), *rows("AB", "BA", qid="1")]
    result = CircularEvaluator().score(["A", "B", "A", "A"], ["A", "A", "A", "B"], test_set)
    assert result == CircularEvaluator().score(
        ["B", "A", "A", "A"], ["A", "A", "B", "A"], [test_set[i] for i in (1, 0, 3, 2)]
    )
    assert (result["perf_circular"], result["acc_origin"]) == (0.0, 50.0)


def test_questions_of_different_sizes_have_no_more_k() -> None:
    test_set = [*rows("AB", "BA"), *rows("ABC", "BCA", "CAB", qid="1")]
    result = CircularEvaluator().score(list("ABABA"), list("ABABC"), test_set)
    assert result == {"perf_circular": 50.0, "acc_circular": 80.0, "acc_origin": 100.0}


def test_incomplete_questions_are_left_out() -> None:
    test_set = [*rows("AB", "BA"), *rows("AB", qid="1")]
    assert CircularEvaluator().score(list("ABB"), list("ABA"), test_set)["acc_circular"] == 100.0


def test_a_version_has_a_verdict_only() -> None:
    assert CircularEvaluator().score_sample("A", "A") == {"correct": True}


@pytest.mark.parametrize(
    ("test_set", "error", "message"),
    [
        (rows("AB"), EvalplugError, "no question has all"),
        ([{"circular_pattern": "AB"}], ConfigError, "no 'qid'"),
        ([], ConfigError, "do not belong together"),
    ],
)
def test_mistakes_are_explained(test_set: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        CircularEvaluator().score(["A"], ["A"], test_set)
    with pytest.raises(EvalplugError):
        CircularEvaluator().score([], [], [])
