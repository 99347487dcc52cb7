from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalplug.errors import ConfigError, EvalplugError
from pytest_evalplug.summary.groups import in_order_of_need, read_group, read_groups

PAIRS = [["a", "em"], ["b", "f1"]]
scores = st.floats(0.001, 1e6)
weights = st.one_of(st.integers(0, 1000), st.floats(1e-3, 1000))


def value_of(values: list[float], **config: Any) -> float:
    names = [f"d{place}" for place in range(len(values))]
    return read_group({"name": "g", "subsets": names, **config}, where="").aggregate(values)


def exactly(values: list[float]) -> list[Fraction]:
    return [Fraction(value) for value in values]


@given(st.lists(scores, min_size=1, max_size=8))
def test_without_a_method_the_mean(values: list[float]) -> None:
    expected = sum(exactly(values)) / len(values)
    assert value_of(values) == pytest.approx(float(expected), rel=1e-12)


@given(st.lists(st.tuples(scores, weights), min_size=1, max_size=8))
def test_weights_divide_by_their_sum(pairs: list[tuple[float, float]]) -> None:
    values, by_place = [v for v, _ in pairs], [w for _, w in pairs]
    config = {"weights": {f"d{place}": weight for place, weight in enumerate(by_place)}}
    total = sum(exactly(by_place))
    if total == 0:
        with pytest.raises(ConfigError, match="the weights sum to 0"):
            value_of(values, **config)
        return
    products = (w * v for w, v in zip(exactly(by_place), exactly(values), strict=True))
    expected = sum(products, Fraction(0)) / total
    assert value_of(values, **config) == pytest.approx(float(expected), rel=1e-9)


@given(st.lists(scores, min_size=1, max_size=8))
def test_sum_spread_and_harmonic_mean(values: list[float]) -> None:
    exact, n = exactly(values), len(values)
    mean = sum(exact) / n
    variance = sum((v - mean) ** 2 for v in exact) / n
    assert value_of(values, sum=True) == pytest.approx(float(sum(exact)), rel=1e-12)
    assert value_of(values, std=True) == pytest.approx(math.sqrt(variance), rel=1e-9)
    harmonic = n / sum(1 / v for v in exact)
    assert value_of(values, harmonic_mean=True) == pytest.approx(float(harmonic), rel=1e-9)


@given(st.lists(scores, max_size=5), st.floats(-1e6, 0), st.lists(scores, max_size=5))
def test_no_harmonic_mean_is_made_up(before: list[float], bad: float, after: list[float]) -> None:
    with pytest.raises(EvalplugError, match=rf"needs values above 0, d{len(before)} is "):
        value_of([*before, bad, *after], harmonic_mean=True)


def test_the_documented_averages() -> None:
    assert value_of([60, 90]) == 75
    assert value_of([60, 90], weights={"d0": 100, "d1": 200}) == 80


def test_transforms_come_first() -> None:
    assert value_of([0.5, 80], transforms={"d0": "x * 100"}) == 65
    with pytest.raises(EvalplugError, match="the transform of d1, '10 / x' has no value at x = 0"):
        value_of([1, 0], transforms={"d1": "10 / x"})


@pytest.mark.parametrize("config", [{}, {"sum": True}, {"weights": {"d0": 1, "d1": 1}}])
def test_values_too_large_are_an_error(config: dict[str, Any]) -> None:
    with pytest.raises(EvalplugError, match="too large"):
        value_of([1e308, 1e308], **config)


@pytest.mark.parametrize("config", [{}, {"sum": True}, {"std": True}, {"harmonic_mean": True}])
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_no_number_is_an_error(config: dict[str, Any], value: float) -> None:
    with pytest.raises(EvalplugError, match=f"d0 is {value}"):
        value_of([value, 1.0], **config)


@pytest.mark.parametrize(
    ("config", "method"),
    [
        ({}, "naive_average"),
        ({"weights": {"a": 1, "b": 2}}, "weighted_average"),
        ({"weights": None, "sum": False}, "naive_average"),
        ({"sum": True}, "sum"),
        ({"std": True}, "standard_deviation"),
        ({"harmonic_mean": True}, "harmonic_mean"),
    ],
)
def test_a_value_is_called_by_its_method_unless_it_has_a_name(
    config: dict[str, Any], method: str
) -> None:
    group = read_group({"name": "g", "subsets": PAIRS, **config}, where="")
    assert (group.method, group.metric) == (method, method)
    named = read_group({"name": "g", "subsets": PAIRS, "metric": "m", **config}, where="")
    assert (named.method, named.metric) == (method, "m")


def test_weights_and_transforms_by_name_or_by_pair() -> None:
    group = read_group(
        {
            "name": "g",
            "subsets": [["a", "em"], ["a", "pass@1"], ["b", "f1"]],
            "weights": {"b": 3, "a@pass@1": 2, "a@em": 1},
            "transforms": {"a": "x * 2", "b@f1": "x * 3"},
        },
        where="",
    )
    assert group.weights == (1, 2, 3)
    assert {place: t.text for place, t in group.transforms.items()} == {
        0: "x * 2", 1: "x * 2", 2: "x * 3",
    }  # fmt: skip


def test_what_each_value_is_multiplied_by() -> None:
    def coefficients(**config: Any) -> list[float] | None:
        return read_group({"name": "g", "subsets": PAIRS, **config}, where="").coefficients()

    assert coefficients() == [0.5, 0.5]
    assert coefficients(sum=True, transforms={"a": "3 - x * 2"}) == [-2, 1]
    assert coefficients(weights={"a": 1, "b": 3}) == [0.25, 0.75]
    assert coefficients(transforms={"a": "x * x"}) is None
    assert coefficients(std=True) is None
    assert coefficients(harmonic_mean=True) is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weigths": {}}, "'g': unknown key 'weigths'. Did you mean 'weights'"),
        ({"name": ""}, "a group needs a 'name'"),
        ({"name": 3}, "a group needs a 'name'"),
        ({"subsets": []}, "'g': a group needs 'subsets', a list"),
        ({"subsets": "a"}, "'g': a group needs 'subsets', a list"),
        ({"subsets": ["a", ["b", "f1"]]}, "all names or all .* pairs. Write \\['a', metric\\] too"),
        ({"subsets": [["a"]]}, r"subset \['a'\] is no \[name, metric\] pair"),
        ({"subsets": [["a", 1]]}, r"is no \[name, metric\] pair"),
        ({"subsets": [3]}, r"subset 3 is no \[name, metric\] pair"),
        ({"subsets": ["a", "b", "a"]}, "subset 'a' is there twice"),
        ({"metric": ""}, "metric '' is no name"),
        ({"metric": "bp"}, "a metric called 'bp' is in no table"),
        ({"std": True, "sum": True}, "std and sum can't be one value. Make a group of each"),
        ({"weights": {"a": 1, "b": 1}, "std": True}, "std and weights can't be one value"),
        ({"std": 1}, "std is true or false, not 1"),
        ({"weights": {"a": 1}}, "weights lack 'b'. A weight may be 0"),
        ({"weights": {"a": 1, "b": 1, "c": 1}}, "weights has 'c', which is no subset"),
        ({"weights": {"a": 1, "a@em": 1, "b": 1}}, "weights has 'a' twice"),
        ({"weights": {"a@f1": 1, "b": 1}}, "weights has 'a@f1', which is no subset. Did you mean"),
        ({"weights": {"a": 0, "b": 0.0}}, "the weights sum to 0"),
        ({"weights": {"a": -1, "b": 3}}, "the weight of 'a' is -1. Weights are 0 or more"),
        ({"weights": {"a": math.nan, "b": 3}}, "the weight of 'a' is nan"),
        ({"weights": {"a": math.inf, "b": 3}}, "the weight of 'a' is inf"),
        ({"weights": {"a": True, "b": 3}}, "the weight of 'a' is True"),
        ({"weights": {"a": "1", "b": 3}}, "the weight of 'a' is '1'"),
        ({"weights": [1, 2]}, "weights is a dict"),
        ({"weights": {}}, "weights lack 'a'"),
        ({"transforms": {"c": "x"}}, "transforms has 'c', which is no subset"),
        ({"transforms": {"a": "y"}}, "'g': transforms of a: 'y' is no formula: unknown name 'y'"),
        ({"transforms": "x"}, "transforms is a dict"),
        (
            {"subsets": [["a", "em"], ["a", "f1"]], "weights": {"a": 1}},
            "the weight of 'a' fits several subsets. Write 'a@em' and so on",
        ),
        ({"subsets": ["a", "b"], "weights": {"a@em": 1, "b": 1}}, "'a@em', which is no subset"),
    ],
)
def test_a_mistake_is_named_with_its_place(change: dict[str, Any], message: str) -> None:
    config = {"name": "g", "subsets": PAIRS, **change}
    with pytest.raises(ConfigError, match=message) as caught:
        read_groups([config], where="summary_groups")
    assert str(caught.value).startswith("summary_groups[0]")


@pytest.mark.parametrize("config", [3, "g", [["name", "g"]]])
def test_a_group_is_a_dict(config: Any) -> None:
    with pytest.raises(ConfigError, match=r"groups\[0\]: a group is a dict. Keys: name, subsets"):
        read_groups([config], where="groups")
    with pytest.raises(ConfigError, match="groups: is a list of groups"):
        read_groups("g", where="groups")


def test_one_name_may_have_several_values_but_not_one_twice() -> None:
    first = {"name": "g", "subsets": PAIRS}
    assert len(read_groups([first, {**first, "std": True}], where="")) == 2
    with pytest.raises(ConfigError, match="two groups are called 'g' and have the value 'naive_av"):
        read_groups([first, first], where="")


def groups(**subsets: list[Any]) -> list[dict[str, Any]]:
    return [{"name": name, "subsets": found} for name, found in subsets.items()]


@pytest.mark.parametrize(
    ("configs", "path"),
    [
        (groups(a=["a"]), "a -> a"),
        (groups(a=[["a", "naive_average"]]), "a -> a"),
        (groups(a=["b"], b=["x", "c"], c=[["a", "naive_average"]]), "a -> b -> c -> a|b -> c -> a"),
    ],
)
def test_groups_that_need_each_other(configs: list[dict[str, Any]], path: str) -> None:
    with pytest.raises(ConfigError, match=f"groups need each other: .*({path})"):
        read_groups(configs, where="summary_groups")


def test_a_group_may_be_called_as_its_dataset() -> None:
    (group,) = read_groups(groups(plugin=[["plugin", "string"], ["plugin", "json"]]), where="")
    assert in_order_of_need([group]) == [group]


def test_groups_come_after_what_they_are_made_of() -> None:
    found = read_groups(groups(a=["b", "c"], b=["c", "x"], c=["y"]), where="")
    assert [group.name for group in in_order_of_need(found)] == ["c", "b", "a"]


def test_a_long_chain_of_groups() -> None:
    chain = {f"g{number}": [f"g{number + 1}"] for number in range(3000)}
    found = read_groups(groups(**chain), where="")
    assert in_order_of_need(found) == [*reversed(found)]
