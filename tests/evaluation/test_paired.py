from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalplug.evaluation.paired import bootstrap_p, holm, matched_interval, mcnemar_p

MCNEMAR = json.loads(Path(__file__).with_name("statistics.json").read_text())["mcnemar"]
"""What scipy says; see make_statistics.py."""


@pytest.mark.parametrize(("gained", "lost", "expected"), MCNEMAR)
def test_mcnemar(gained: int, lost: int, expected: float) -> None:
    assert mcnemar_p(gained, lost) == pytest.approx(expected)


@pytest.mark.parametrize(
    "values", [[], [0.0, 0.0], [1.0] * 3, [3.0, 1.0, -0.5, 2.5, 0.0, 0.25], [0.1] * 9 + [-0.1]]
)
def test_the_bootstrap_comes_near_to_all_choices_of_signs(values: list[float]) -> None:
    signs = product((1, -1), repeat=len(values))
    sums = [sum(s * v for s, v in zip(each, values, strict=True)) for each in signs]
    as_far = sum(abs(total) >= abs(sum(values)) - 1e-9 for total in sums) / len(sums)
    assert bootstrap_p(values) == pytest.approx(as_far, abs=0.03)


def test_the_bootstrap_of_right_and_wrong_is_mcnemars_test() -> None:
    assert bootstrap_p([1.0] * 30 + [0.0] * 90 + [-1.0] * 15) == pytest.approx(
        mcnemar_p(30, 15), abs=0.015
    )


@given(st.lists(st.floats(-10, 10), max_size=12), st.integers(0, 3))
def test_the_bootstrap_is_a_probability_and_comes_out_the_same(
    values: list[float], seed: int
) -> None:
    p_value = bootstrap_p(values, seed=seed)
    assert 0 < p_value <= 1
    assert p_value == bootstrap_p([-value for value in values], seed=seed)


def test_matched_interval() -> None:
    # (40 - 20) / 202 plus and minus 1.96 sqrt(61 / 202 - 0.099^2) / sqrt(202)
    assert matched_interval(40, 20, 200) == pytest.approx((0.02450, 0.17352), abs=1e-4)
    low, high = matched_interval(0, 0, 50)
    assert low == -high == pytest.approx(-0.0377, abs=1e-4)


def test_holm() -> None:
    assert holm([0.01, 0.04, 0.03, 0.5]) == [0.04, 0.09, 0.09, 0.5]
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []
