from __future__ import annotations

import json
import math
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalplug.evaluation.statistics import (
    cluster_of,
    mean_interval,
    normal_interval,
    standard_error,
    t_quantile,
    wilson_interval,
)

REFERENCE: dict[str, Any] = json.loads(Path(__file__).with_name("statistics.json").read_text())
"""What scipy and statsmodels say; see make_statistics.py."""


@pytest.mark.parametrize(("df", "expected"), REFERENCE["t"].items())
def test_t_quantile(df: str, expected: float) -> None:
    assert t_quantile(int(df)) == pytest.approx(expected, abs=1e-9 if int(df) <= 1000 else 1e-5)


@pytest.mark.parametrize(("right", "n", "low", "high"), REFERENCE["wilson"])
def test_wilson_interval(right: int, n: int, low: float, high: float) -> None:
    assert wilson_interval(right, n) == pytest.approx((low, high))


@pytest.mark.parametrize("case", REFERENCE["clustered"])
def test_clustered_standard_error(case: dict[str, Any]) -> None:
    assert standard_error(case["values"], case["groups"]) == pytest.approx(case["stderr"])


def test_equally_many_repeats_are_one_observation() -> None:
    assert standard_error([1, 1, 0, 0], ["a", "a", "b", "b"]) == pytest.approx(0.5)
    assert standard_error([1, 1, 0, 0], [None] * 4) == pytest.approx(0.2886751)


@pytest.mark.parametrize(("values", "groups"), [([1.0], ["a"]), ([1.0, 0.0], ["a", "a"])])
def test_one_cluster_leaves_it_undefined(values: list[float], groups: list[str]) -> None:
    assert standard_error(values, groups) is None
    assert mean_interval([v / 2 for v in values], groups) is None


VALUES = st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=20)


@given(VALUES)
def test_clusters_of_one_are_the_usual_standard_error(values: list[float]) -> None:
    usual = stdev(values) / math.sqrt(len(values))
    for groups in (None, [None] * len(values), list(range(len(values)))):
        assert standard_error(values, groups) == pytest.approx(usual, abs=1e-9)


@given(VALUES, st.integers(2, 4))
def test_saying_everything_again_tells_nothing_new(values: list[float], times: int) -> None:
    again = standard_error(values * times, [*range(len(values))] * times)
    assert again == pytest.approx(standard_error(values), abs=1e-9)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 3)), min_size=1, max_size=30))
def test_intervals_of_shares_hold_the_share_and_stay_within_0_and_1(
    pairs: list[tuple[bool, int]],
) -> None:
    values = [float(value) for value, _ in pairs]
    for groups in (None, [group for _, group in pairs]):
        interval = mean_interval(values, groups, bounds=(0.0, 1.0))
        if interval is not None:
            assert 0 <= interval[0] <= fmean(values) + 1e-12
            assert fmean(values) - 1e-12 <= interval[1] <= 1


def test_which_interval() -> None:
    assert mean_interval([1, 0, 1]) == wilson_interval(2, 3)
    assert mean_interval([1, 0, 1], ["a", "a", "b"]) != wilson_interval(2, 3)
    assert mean_interval([0.5, 1.5]) == pytest.approx((1 - 6.3531, 1 + 6.3531), abs=1e-4)
    assert normal_interval(50, 10) == pytest.approx((30.4004, 69.5996), abs=1e-4)
    assert normal_interval(50, 30, bounds=(0, 100)) == (0, 100)


@pytest.mark.parametrize("values", [[1.0] * 6, [0.0] * 6, [1.0, 0.0] * 3])
def test_clusters_that_do_not_differ_are_no_point(values: list[float]) -> None:
    groups = ["a", "a", "b", "b", "c", "c"]
    assert standard_error(values, groups) == 0
    right = 3 * fmean(values)
    assert mean_interval(values, groups, bounds=(0, 1)) == wilson_interval(right, 3)


def test_what_belongs_together() -> None:
    assert cluster_of("12.1", None) == cluster_of("12", {}) == "12"
    assert cluster_of("3", {"context_id": 7}) == cluster_of("4", {"context_id": "7"})
    assert cluster_of("7", None) != cluster_of("3", {"context_id": 7})
    assert cluster_of("v1.2", None) == "v1.2"
    assert cluster_of(None, None) is None
