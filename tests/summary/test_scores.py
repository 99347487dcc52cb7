from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalplug.summary.averages import spread
from pytest_evalplug.summary.groups import read_groups
from pytest_evalplug.summary.rows import Cell, DatasetRef, Row
from pytest_evalplug.summary.scores import Scores, read_scores

from .conftest import result

A, B, C = (DatasetRef(name) for name in "abc")
PAIRS = [["a", "accuracy"], ["b", "accuracy"]]
Found = dict[str, dict[str, float]]


def scores_of(values: Found, *groups: dict[str, Any]) -> Scores:
    scores = Scores.of({"m": values})
    scores.add_groups(read_groups(groups, where=""))
    return scores


def sure(stderr: float, low: float, high: float) -> dict[str, Any]:
    return {"stderr": {"accuracy": stderr}, "intervals": {"accuracy": (low, high)}}


def value_of(scores: Scores, name: str, metric: str) -> float | None:
    cells = [row.cells[0] for row in scores.rows(name) if row.metric == metric]
    return cells[0].value if cells and cells[0] else None


def cell_of(*results: Any, **group: Any) -> Cell:
    """Return the cell of a group over results, and of their version and mode."""
    scores = read_scores(["m"], [A, B, C], {("m", r.dataset): r for r in results})
    (config,) = read_groups([{"name": "g", "subsets": PAIRS, **group}], where="")
    scores.add_groups([config])
    cell = scores.entries["m"]["g"][config.metric].cell
    assert isinstance(cell, Cell)
    return cell


def test_bare_names_give_every_shared_metric_and_one_over_the_first_ones() -> None:
    values = {"a": {"f1": 1.0, "em": 10.0, "own": 5.0}, "b": {"em": 30.0, "f1": 3.0}}
    scores = scores_of(values, {"name": "g", "subsets": ["a", "b"]})
    assert [(row.metric, row.cells) for row in scores.rows("g")] == [
        ("f1", (Cell(2.0, 0),)),
        ("em", (Cell(20.0, 0),)),
        ("naive_average", (Cell(15.5, 0),)),
    ]


def test_a_groups_metrics_are_in_the_order_of_tables() -> None:
    values = {"a": {"zeta": 1.0, "f1": 1.0, "accuracy": 1.0}}
    scores = scores_of(values, {"name": "g", "subsets": ["a"], "metric": "score"})
    assert [row.metric for row in scores.rows("g")] == ["score", "accuracy", "f1", "zeta"]


def test_the_groups_own_value_wins_over_a_shared_metric_of_its_name() -> None:
    values = {"a": {"f1": 1.0, "em": 10.0}, "b": {"em": 30.0, "f1": 3.0}}
    scores = scores_of(values, {"name": "g", "subsets": ["a", "b"], "metric": "em"})
    assert value_of(scores, "g", "em") == 15.5


@pytest.mark.parametrize("order", [1, -1])
def test_groups_of_groups_in_whatever_order(order: int) -> None:
    groups: list[dict[str, Any]] = [
        {"name": "inner", "subsets": ["a", "b"]},
        {"name": "middle", "subsets": [["inner", "naive_average"], ["c", "accuracy"]]},
        {"name": "outer", "subsets": ["inner", "middle"], "sum": True},
    ]
    values = {name: {"accuracy": v} for name, v in zip("abc", (10.0, 30.0, 80.0), strict=True)}
    scores = scores_of(values, *groups[::order])
    assert value_of(scores, "middle", "naive_average") == 50
    assert value_of(scores, "outer", "sum") == 70
    assert scores.names == [*"abc", *(group["name"] for group in groups[::order])]


@given(st.lists(st.booleans(), min_size=1, max_size=6))
def test_a_group_is_whole_or_missing(there: list[bool]) -> None:
    names = [f"d{number}" for number in range(len(there))]
    values = {name: {"accuracy": 1.0} for name, found in zip(names, there, strict=True) if found}
    scores = scores_of(values, {"name": "g", "subsets": names}, {"name": "h", "subsets": ["g"]})
    assert (value_of(scores, "g", "naive_average") is not None) == all(there)
    assert (value_of(scores, "h", "naive_average") is not None) == all(there)
    missing = [name for name, found in zip(names, there, strict=True) if not found]
    if missing:
        note = scores.reasons["m", "g", "naive_average"]
        shown = ", ".join(missing[:5]) + (" and 1 more" if len(missing) > 5 else "")
        number = f"{len(there) - len(missing)} of {len(there)}"
        assert note == f"{number} subsets have a result; missing: {shown}"


def test_a_missing_metric_is_named() -> None:
    scores = scores_of({"a": {"em": 1.0}}, {"name": "g", "subsets": [["a", "em"], ["a", "f1"]]})
    assert scores.rows("g") == [Row("g", "-", "naive_average", "-", (None,))]
    assert [*scores.notes(scores.rows("g"))] == [
        "g m: no naive_average, 1 of 2 subsets have a result; missing: a/f1"
    ]
    assert [*scores.notes([])] == []


def test_a_group_that_fails_is_missing_in_another() -> None:
    zero = {"name": "g", "subsets": ["a"], "harmonic_mean": True}
    scores = scores_of({"a": {"accuracy": 0.0}}, zero, {"name": "h", "subsets": ["g"]})
    assert [*scores.notes(scores.rows("g") + scores.rows("h"))] == [
        "g m: no harmonic_mean, a harmonic mean needs values above 0, a is 0",
        "h m: no naive_average, 0 of 1 subsets have a result; missing: g",
    ]


def test_a_transform_without_a_value_is_a_note() -> None:
    group = {"name": "g", "subsets": PAIRS, "transforms": {"a": "10 / x"}}
    scores = scores_of({"a": {"accuracy": 0.0}, "b": {"accuracy": 2.0}}, group)
    why = "the transform of a/accuracy, '10 / x' has no value at x = 0: division by zero"
    assert [*scores.notes(scores.rows("g"))] == [f"g m: no naive_average, {why}"]


def test_a_group_never_replaces_what_was_measured() -> None:
    values = {"a": {"f1": 1.0}, "b": {"f1": 3.0}, "c": {"f1": 5.0}}
    group = {"name": "a", "subsets": [["b", "f1"], ["c", "f1"]], "metric": "f1"}
    scores = scores_of(values, group)
    assert value_of(scores, "a", "f1") == 1
    note = "a m: no f1, the dataset of that name has that metric"
    assert [*scores.notes(scores.rows("a"))] == [note]
    scores = scores_of(values, {**group, "metric": "m"})
    assert [(row.metric, row.cells) for row in scores.rows("a")] == [
        ("f1", (Cell(1.0, 0),)),
        ("m", (Cell(4.0, 0),)),
    ]


def test_a_group_replaces_an_average_that_is_there_anyway() -> None:
    parts = [DatasetRef("mmlu", subset, ("law", "art")) for subset in ("law", "art")]
    found = {("m", part.name): result(part, "m", 50.0) for part in parts}
    scores = read_scores(["m"], parts, found)
    weights = {"mmlu-law": 1, "mmlu-art": 1}
    group = {"name": "mmlu", "subsets": [*weights], "weights": weights, "metric": "naive_average"}
    scores.add_groups(read_groups([{**group, "transforms": {"mmlu-law": "x * 2"}}], where=""))
    assert value_of(scores, "mmlu", "naive_average") == 75
    assert value_of(scores, "mmlu", "weighted_average") == 50


def test_a_mean_has_n_standard_error_and_interval() -> None:
    found = (
        result(A, "m", 60.0, num_scored=100, **sure(3.0, 54.0, 63.0)),
        result(B, "m", 90.0, num_scored=200, **sure(4.0, 82.0, 94.0)),
    )
    mean = cell_of(*found)
    assert (mean.value, mean.n, mean.stderr) == (75, 300, 2.5)
    assert mean.interval == pytest.approx((75 - 5, 75 + 2.5))
    weighted = cell_of(*found, weights={"a": 100, "b": 200})
    assert weighted.stderr == pytest.approx(math.hypot(300, 800) / 300)
    assert cell_of(*found, sum=True).stderr == 5
    turned = cell_of(*found, transforms={"a": "(1 - x) * 2"})
    assert turned.stderr == pytest.approx(math.hypot(3, 2))
    assert turned.interval == pytest.approx((-14 - math.hypot(3, 4), -14 + math.hypot(6, 2)))


@given(st.lists(st.tuples(*[st.floats(0, 100)] * 3).map(sorted), min_size=1, max_size=5))
def test_the_interval_of_a_mean_holds_it_and_stays_in_the_range(parts: list[list[float]]) -> None:
    cells = [Cell(value, 1, None, (low, high)) for low, value, high in parts]
    mean, share = sum(cell.value for cell in cells) / len(cells), 1 / len(cells)
    stderr, interval = spread(mean, [share] * len(cells), cells)
    assert stderr is None
    assert interval is not None
    assert -1e-9 <= interval[0] <= mean <= interval[1] <= 100 + 1e-9


@pytest.mark.parametrize(
    "group", [{"std": True}, {"harmonic_mean": True}, {"transforms": {"a": "min(x, 1)"}}]
)
def test_what_is_not_linear_has_no_standard_error(group: dict[str, Any]) -> None:
    known = sure(3.0, 54.0, 63.0)
    cell = cell_of(result(A, "m", 60.0, **known), result(B, "m", 90.0, **known), **group)
    assert (cell.n, cell.stderr, cell.interval) == (20, None, None)


def test_a_standard_error_needs_every_subsets_own() -> None:
    cell = cell_of(result(A, "m", 60.0, **sure(3.0, 54.0, 63.0)), result(B, "m", 90.0))
    assert (cell.stderr, cell.interval) == (None, None)


def test_values_of_the_same_samples_are_not_independent() -> None:
    both = result(A, "m", metrics={"em": 1.0, "f1": 3.0}, stderr={"em": 3.0, "f1": 4.0})
    cell = cell_of(both, subsets=[["a", "em"], ["a", "f1"]])
    assert cell == Cell(2.0, 10)


def test_a_group_of_groups_counts_samples_once() -> None:
    stderr = {"accuracy": 3.0}
    found = {("m", d.name): result(d, "m", 60.0, stderr=stderr) for d in (A, B, C)}
    scores = read_scores(["m"], [A, B, C], found)
    groups = [
        {"name": "ab", "subsets": ["a", "b"]},
        {"name": "c2", "subsets": ["c"]},
        {"name": "disjoint", "subsets": ["ab", "c2"]},
        {"name": "overlapping", "subsets": ["ab", "a"]},
    ]
    scores.add_groups(read_groups(groups, where=""))
    disjoint = scores.entries["m"]["disjoint"]["naive_average"].cell
    assert disjoint.n == 30
    assert disjoint.stderr == pytest.approx(math.hypot(3, 3, 6) / 4)
    overlapping = scores.entries["m"]["overlapping"]["naive_average"].cell
    assert (overlapping.n, overlapping.stderr) == (20, None)


def test_a_group_is_as_incomplete_as_its_subsets() -> None:
    whole, partial = result(A, "m", 1.0), result(A, "m", 1.0, partial=True)
    errors = result(B, "m", 1.0, num_errors=10)
    assert cell_of(whole, result(B, "m", 1.0)).incomplete is None
    assert cell_of(whole, errors).incomplete == "b: 10 errors"
    assert cell_of(partial, errors).incomplete == "a: partial run; 1 more"


@pytest.mark.parametrize(("modes", "mode"), [("gen gen", "gen"), ("gen ppl", "mixed")])
def test_a_groups_mode_is_that_of_its_subsets(modes: str, mode: str) -> None:
    first, second = modes.split()
    found = {
        ("m", "a"): result(A, "m", 1.0, mode=first),
        ("m", "b"): result(B, "m", 1.0, mode=second),
    }
    scores = read_scores(["m"], [A, B], found)
    scores.add_groups(read_groups([{"name": "g", "subsets": ["a", "b"]}], where=""))
    assert [(row.version, row.mode) for row in scores.rows("g")] == [("-", mode), ("-", mode)]


def test_a_gap_where_one_model_lacks_a_subset() -> None:
    scores = Scores.of({"m": {"a": {"f1": 1.0}, "b": {"f1": 3.0}}, "n": {"a": {"f1": 5.0}}})
    scores.add_groups(read_groups([{"name": "g", "subsets": ["a", "b"]}], where=""))
    assert [(row.metric, row.cells) for row in scores.rows("g")] == [
        ("f1", (Cell(2.0, 0), None)),
        ("naive_average", (Cell(2.0, 0), None)),
    ]
    assert [*scores.notes(scores.rows("g"))] == [
        "g n: no naive_average, 1 of 2 subsets have a result; missing: b"
    ]


def test_groups_that_nothing_was_measured_for_are_not_listed() -> None:
    groups = [{"name": "g", "subsets": ["x"]}, {"name": "h", "subsets": ["a", "x"]}]
    scores = scores_of({"a": {"f1": 1.0}}, *groups)
    assert [row.dataset for row in scores.listed()] == ["a", "h"]
    assert scores.rows("g") == [Row("g", "-", "naive_average", "-", (None,))]
