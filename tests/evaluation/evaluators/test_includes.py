from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalplug.evaluation.evaluators.exact_match import exact_match
from pytest_evalplug.evaluation.evaluators.includes import IncludesEvaluator, includes


@pytest.mark.parametrize(
    ("pred", "reference", "right"),
    [
        ("The capital is Paris.", "Paris", True),
        ("The capital is Paris.", "the capital", True),
        ("**Answer:**Paris", "Paris", True),
        ("yes/no", "no", True),
        ("yes/no", "yesno", True),  # they are equal too
        ("don't", "don", False),
        ("well-known", "known", False),
        ("AT&T", "AT", False),
        ("1/2", "2", False),
        ("10:30", "30", False),
        ("it is -5 degrees", "5", False),
        ("it is \u22125 degrees", "-5", True),
        ("x=5", "5", True),
        ("50+ people", "50", True),
        ("C++ code", "C", False),
        ("1,500 people", "500", False),
        ("1,500 people", "1500", True),
        ("\u5171711\u4eba", "11", False),
        ("\u5171711\u4eba", "711", True),
        ("\u5171711\u4eba", "711\u4eba", True),
        ("\u5317 \u4eac", "\u5317\u4eac", True),
        ("anything", "", False),
        ("", "", True),
        ("New York City", "New City", False),
    ],
)
def test_whole_words(pred: str, reference: str, right: bool) -> None:
    assert includes(pred, [reference]) is right
    assert IncludesEvaluator().score_sample(pred, ["zebra", reference])["correct"] is right


@given(st.text(), st.text())
def test_what_equals_is_included(a: str, b: str) -> None:
    assert includes(a, [a])
    assert includes(a, [b]) or not exact_match(a, [b])


def test_a_missing_pred_includes_nothing() -> None:
    assert IncludesEvaluator().score_sample(None, "") == {"includes": 0.0, "correct": False}


def test_the_set_is_in_percent() -> None:
    assert IncludesEvaluator().score(["I know", "no way"], ["no", "no"])["includes"] == 50.0
