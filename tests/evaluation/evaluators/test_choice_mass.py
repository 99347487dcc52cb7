from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalplug.errors import EvalplugError
from pytest_evalplug.evaluation.evaluators.choice_mass import ChoiceMassEvaluator, choice_mass

LOGPROBS = st.lists(st.floats(-2000, 0), min_size=1, max_size=8)


def test_the_share_of_the_right_choices() -> None:
    logprobs = [math.log(p) for p in (0.1, 0.2, 0.1, 0.1)]
    assert ChoiceMassEvaluator().score_sample("B", logprobs) == pytest.approx(0.4)
    assert ChoiceMassEvaluator().score_sample(["A", "B"], logprobs) == pytest.approx(0.6)


def test_far_below_zero() -> None:
    assert choice_mass([-5000.0, -5000.0], [0]) == 0.5


@given(LOGPROBS, st.data())
def test_the_shares_sum_to_1(logprobs: list[float], data: st.DataObject) -> None:
    right = data.draw(st.sets(st.integers(0, len(logprobs) - 1)))
    others = {*range(len(logprobs))} - right
    assert choice_mass(logprobs, right) + choice_mass(logprobs, others) == pytest.approx(1)


def test_a_letter_of_no_choice() -> None:
    with pytest.raises(EvalplugError, match="'C' is no letter of A, B"):
        ChoiceMassEvaluator().score_sample("C", [-1.0, -2.0])


def test_the_set_is_in_percent() -> None:
    result = ChoiceMassEvaluator().score(["A"], ["A"], logprobs=[[0.0, 0.0]])
    assert result["mc2"] == 50.0
