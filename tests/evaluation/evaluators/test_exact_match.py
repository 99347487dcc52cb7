from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalplug.evaluation.evaluators.exact_match import EMEvaluator, exact_match


@given(st.text(), st.lists(st.text(), max_size=2))
def test_a_text_equals_itself_whatever_else_is_accepted(text: str, others: list[str]) -> None:
    assert exact_match(text, [*others, text])


@given(st.text(), st.text())
def test_equality_has_no_direction(a: str, b: str) -> None:
    assert exact_match(a, [b]) == exact_match(b, [a])


def test_a_wrong_answer_is_wrong() -> None:
    assert EMEvaluator().score_sample("Rome", ["Paris", "Lyon"]) == {
        "exact_match": 0.0,
        "correct": False,
    }


@pytest.mark.parametrize(
    ("pred", "reference", "right"),
    [(None, "", False), ("", "", True), (3, "3", True), (["a cat", "dog"], "cat", False)],
)
def test_verdicts(pred: object, reference: str, right: bool) -> None:
    assert EMEvaluator().score_sample(pred, reference)["correct"] is right


def test_the_set_is_in_percent() -> None:
    assert EMEvaluator().score(["The cat", "dog"], ["cat", "cat"])["exact_match"] == 50.0
