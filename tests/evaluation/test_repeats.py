"""Estimates from repeated replies, against counting every draw."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalplug.evaluation.repeats import (
    THRESHOLDS,
    average_runs,
    g_pass_at_k,
    majority_vote,
    mg_pass_at_k,
    pass_at_k,
    vote_metrics,
)

counts = st.integers(1, 7).flatmap(
    lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))
)


def draws(n: int, c: int, k: int) -> list[int]:
    """Return how many are right in each draw of k of n, of which c are right."""
    return [sum(draw) for draw in itertools.combinations([1] * c + [0] * (n - c), k)]


def share(found: Sequence[int], least: float) -> float:
    return sum(right >= least for right in found) / len(found)


def test_labelled_cases(cases: Callable[[str], list[dict[str, Any]]]) -> None:
    rows = cases("pass_at_k")
    missed = []
    for row in rows:
        value = pass_at_k(row["n"], row["c"], row["k"])
        expected = row["expected"]
        right = value is None if expected is None else value == pytest.approx(expected, abs=1e-9)
        if not right:
            missed.append((row["id"], value, expected))
    assert rows
    assert missed == []


@given(counts)
def test_pass_at_k_is_the_share_of_draws_with_a_right_one(nck: tuple[int, int, int]) -> None:
    assert pass_at_k(*nck) == pytest.approx(share(draws(*nck), 1), abs=1e-12)


@given(counts, st.sampled_from([*THRESHOLDS, 0.1, 0.3, 0.6, 0.7]))
def test_g_pass_at_k_is_the_share_of_draws_with_enough_right_ones(
    nck: tuple[int, int, int], threshold: float
) -> None:
    _, _, k = nck
    least = next(m for m in range(1, k + 1) if m * 10000 >= round(threshold * 10000) * k)
    assert g_pass_at_k(*nck, threshold) == pytest.approx(share(draws(*nck), least), abs=1e-12)


@given(counts.filter(lambda nck: nck[2] > 1))
def test_mg_pass_at_k_is_the_papers_sum(nck: tuple[int, int, int]) -> None:
    n, c, k = nck
    found = draws(n, c, k)
    expected = 2 / k * sum(share(found, i) for i in range(math.ceil(k / 2) + 1, k + 1))
    assert mg_pass_at_k(n, c, k) == pytest.approx(expected, abs=1e-12)


def test_a_threshold_is_the_decimal_that_was_written() -> None:
    # 0.7 * 10 is 7.000000000000001 to a float
    assert g_pass_at_k(10, 7, 10, 0.7) == 1.0


@pytest.mark.parametrize(
    ("n", "c", "k"), [(4, 2, 5), (4, 5, 1), (4, -1, 1), (0, 0, 1), (4, 2, 0), (-1, 0, 1)]
)
def test_what_cannot_be_known_is_no_number(n: int, c: int, k: int) -> None:
    assert pass_at_k(n, c, k) is None
    assert g_pass_at_k(n, c, k, 0.5) is None
    assert mg_pass_at_k(n, c, k) is None


def test_mg_pass_at_1_has_nothing_to_sum() -> None:
    assert mg_pass_at_k(4, 4, 1) is None


@given(st.integers(1, 10**9), st.data())
def test_large_counts_are_fast_and_shares(n: int, data: st.DataObject) -> None:
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, min(n, 1000)))
    value = pass_at_k(n, c, k)
    assert value is not None
    assert 0 <= value <= 1
    assert pass_at_k(n, 1, k) == k / n
    assert pass_at_k(n, c, 1) == c / n


def test_large_counts_keep_their_digits() -> None:
    assert pass_at_k(10**9, 1, 1) == 1e-9
    assert pass_at_k(10**6, 500_000, 500_000) == 1.0
    assert pass_at_k(10_000, 100, 40) == pytest.approx(-math.expm1(_log_all_wrong(10_000, 100, 40)))


def _log_all_wrong(n: int, c: int, k: int) -> float:
    return math.fsum(math.log1p(-c / (n - i)) for i in range(k))


@pytest.mark.parametrize(
    ("preds", "right", "expected"),
    [
        ("AAB", "A", 1),
        ("ABB", "A", 0),
        ("AB", "A", 0.5),
        ("AABBC", "B", 0.5),
        ("ABCC", "A", 0),
        (["", None, [], "A"], "A", 1),
        (["", "", ""], "", 0),
        ([], "A", 0),
        ([["A", "B"], ["A", "B"], "A"], ["A", "B"], 1),
        (["7", 7, 7], 7, 1),
    ],
)
def test_majority_vote(preds: Sequence[Any], right: Any, expected: float) -> None:
    assert majority_vote([(pred, pred == right) for pred in preds]) == expected


@given(st.lists(st.sampled_from(["A", "B", "C", ""]), max_size=7), st.randoms())
def test_the_order_of_the_replies_does_not_matter(preds: list[str], random: Any) -> None:
    votes = [(pred, pred == "A") for pred in preds]
    value = majority_vote(votes)
    random.shuffle(votes)
    assert majority_vote(votes) == value


def test_a_pred_that_a_judge_calls_right_and_wrong_counts_by_its_share() -> None:
    assert majority_vote([("A", True), ("A", False), ("B", True)]) == 0.5


def test_what_a_sample_lacks_replies_for_is_missing() -> None:
    votes = [("A", True), ("B", False), ("A", True)]
    assert vote_metrics(votes, [1, 4], 4) == {
        "pass@1": 2 / 3,
        **{f"G-Pass@1_{t}": 2 / 3 for t in THRESHOLDS},
    }
    assert vote_metrics([*votes, ("A", True)], [4], 4) == {
        "pass@4": 1.0,
        "mG-Pass@4": 0.5,
        "G-Pass@4_0.0": 1.0,
        "G-Pass@4_0.25": 1.0,
        "G-Pass@4_0.5": 1.0,
        "G-Pass@4_0.75": 1.0,
        "G-Pass@4_1.0": 0.0,
        "maj@4": 1.0,
    }


def detail(pred: str, correct: bool, key: str = "correct") -> dict[str, Any]:
    return {"pred": pred, key: correct}


@pytest.mark.parametrize("key", ["correct", "is_correct", "cascade_correct"])
def test_runs_in_opencompass_form(key: str) -> None:
    runs = [
        {"accuracy": 50, "details": [detail("A", True, key), detail("X", False, key)]},
        {"accuracy": 100, "details": [detail("A", True, key), detail("B", True, key)]},
    ]
    rows = [{"subdivision": "s", "idx": i % 2} for i in range(4)]
    merged = average_runs(runs, [2], rows)
    details = merged.pop("details")
    assert merged == {
        "accuracy (2 runs average)": 75,
        "pass@2": 100,
        "mG-Pass@2": 50,
        "G-Pass@2_0.0": 100,
        "G-Pass@2_0.25": 100,
        "G-Pass@2_0.5": 100,
        "G-Pass@2_0.75": 50,
        "G-Pass@2_1.0": 50,
        "maj@2": 75,
    }
    assert details[1]["example_abbr"] == "s_1"
    assert details[1]["pred"] == ["X", "B"]
    assert details[1][key] == [False, True]
    assert (details[1]["G-Pass@2_0.5"], details[1]["G-Pass@2_1.0"]) == (1, 0)


def test_runs_without_verdicts_or_details() -> None:
    runs = [{"bleu": 10, "note": "x", "details": [{"pred": "a"}, {"other": 1}]}] * 2
    assert average_runs(runs, [2]) == {
        "bleu (2 runs average)": 10,
        "note": ["x", "x"],
        "details": [{"pred": ["a", "a"]}, {"other": [1, 1]}],
    }
    assert average_runs([{"bleu": 10}, {"bleu": 20, "details": [{}]}], [2]) == {
        "bleu (2 runs average)": 15
    }


def test_a_runs_error_is_the_result() -> None:
    assert average_runs([{"bleu": 1}, {"error": "no corpus"}], [2]) == {
        "error": "run 2 of 2: no corpus"
    }
