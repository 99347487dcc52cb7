"""Summary groups: one value from several datasets' metrics, as a configuration describes it."""

from __future__ import annotations

__all__ = ["SummaryGroup", "in_order_of_need", "read_group", "read_groups"]

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import Any

from pytest_evalplug.errors import ConfigError, EvalplugError, nearest
from pytest_evalplug.summary.arithmetic import Expression
from pytest_evalplug.summary.rows import NEVER_SHOWN

_METHODS = {
    "std": "standard_deviation",
    "sum": "sum",
    "weights": "weighted_average",
    "harmonic_mean": "harmonic_mean",
}
"""The key that asks for an aggregation -> what its value is called."""

_HEAVIEST = 1e100

_KEYS = ("name", "subsets", "metric", *_METHODS, "transforms")


@dataclass(frozen=True, slots=True)
class SummaryGroup:
    """A group and how its value comes about.

    ``subsets`` are pairs of a dataset (or another group, or a benchmark with subsets) and a
    metric. In the bare form every metric is None: the group then has a value for each metric that
    all its subsets share, and its own, ``metric``, over each subset's first one. ``weights`` are
    in the order of ``subsets``; ``transforms`` maps places in it to what is done to the values
    there before they are aggregated.
    """

    name: str
    subsets: tuple[tuple[str, str | None], ...]
    method: str = "naive_average"
    metric: str = "naive_average"
    weights: tuple[float, ...] = ()
    transforms: Mapping[int, Expression] = field(default_factory=dict)

    @property
    def is_bare(self) -> bool:
        """Whether the subsets are names without metrics."""
        return self.subsets[0][1] is None

    def may_have(self, metric: str | None) -> bool:
        """Tell whether ``metric`` (None: any) can be a value of this group."""
        return self.is_bare or metric in (None, self.metric)

    def aggregate(self, values: Sequence[float]) -> float:
        """Return the group's value from those of its subsets, in their order.

        Raises EvalplugError where it is undefined: a harmonic mean of a value that is not above
        zero, a transform without a value, a number too large.
        """
        values = [self._transformed(place, value) for place, value in enumerate(values)]
        try:
            result = self._aggregate(values)
        except OverflowError:
            result = math.inf
        if not math.isfinite(result):
            raise EvalplugError("the values are too large")
        return result

    def coefficients(self) -> list[float] | None:
        """Return what each subset's value is multiplied by, None where that isn't all there is."""
        if self.method not in ("naive_average", "weighted_average", "sum"):
            return None
        each = [1.0] * len(self.subsets)
        shares = each if self.method == "sum" else _shares(self.weights or each)
        slopes = [
            self.transforms[place].slope() if place in self.transforms else 1.0
            for place in range(len(self.subsets))
        ]
        if any(slope is None for slope in slopes):
            return None
        return [share * (slope or 0.0) for share, slope in zip(shares, slopes, strict=True)]

    def label(self, place: int) -> str:
        """Return what a subset is called in messages: ``name`` or ``name/metric``."""
        name, metric = self.subsets[place]
        return name if metric is None else f"{name}/{metric}"

    def _transformed(self, place: int, value: float) -> float:
        if not math.isfinite(value):
            raise EvalplugError(f"{self.label(place)} is {value}")
        transform = self.transforms.get(place)
        try:
            return transform(value) if transform else value
        except EvalplugError as error:
            raise EvalplugError(f"the transform of {self.label(place)}, {error.what}") from None

    def _aggregate(self, values: Sequence[float]) -> float:
        if self.method == "sum":
            return math.fsum(values)
        if self.method == "standard_deviation":
            return statistics.pstdev(values)
        if self.method == "harmonic_mean":
            for place, value in enumerate(values):
                if value <= 0:
                    raise EvalplugError(
                        f"a harmonic mean needs values above 0, {self.label(place)} is {value:g}"
                    )
            return statistics.harmonic_mean(values)
        weights = self.weights or [1.0] * len(values)
        products = (w * v for w, v in zip(weights, values, strict=True))
        return math.fsum(products) / math.fsum(weights)


def read_groups(configs: Any, *, where: str) -> tuple[SummaryGroup, ...]:
    """Return the groups that ``summary_groups`` describes, in its order.

    Raises ConfigError for the first thing that is wrong, also for two groups with one name and
    metric and for groups that need each other.
    """
    if not isinstance(configs, Sequence) or isinstance(configs, str):
        raise ConfigError("is a list of groups", where=where)
    groups = tuple(
        read_group(config, where=f"{where}[{number}]") for number, config in enumerate(configs)
    )
    seen: set[tuple[str, str]] = set()
    for group in groups:
        if (group.name, group.metric) in seen:
            raise ConfigError(
                f"two groups are called {group.name!r} and have the value {group.metric!r}",
                where=where,
                fix="Rename one, or give it another 'metric'",
            )
        seen.add((group.name, group.metric))
    in_order_of_need(groups, where=where)
    return groups


def read_group(config: Any, *, where: str) -> SummaryGroup:
    """Return the group that a dict describes. Raises ConfigError for what is wrong in it."""
    if not isinstance(config, Mapping):
        raise ConfigError("a group is a dict", where=where, fix=f"Keys: {', '.join(_KEYS)}")
    name = config.get("name")
    if not isinstance(name, str) or not name:
        raise ConfigError("a group needs a 'name'", where=where)
    where = f"{where} {name!r}"
    for key in config:
        if key not in _KEYS:
            raise ConfigError(f"unknown key {key!r}", where=where, fix=nearest(str(key), _KEYS))
    subsets = _subsets(config.get("subsets"), where)
    method = _method(config, where)
    metric = config.get("metric")
    if metric is not None and not (isinstance(metric, str) and metric):
        raise ConfigError(f"metric {metric!r} is no name", where=where)
    if metric in NEVER_SHOWN:
        raise ConfigError(f"a metric called {metric!r} is in no table", where=where)
    weights, transforms = config.get("weights"), config.get("transforms")
    formulas = {} if transforms is None else _by_place(transforms, subsets, where, "transforms")
    return SummaryGroup(
        name,
        subsets,
        method,
        metric or method,
        () if weights is None else _weights(weights, subsets, where),
        {
            place: Expression.parse(text, where=f"{where}: transforms of {subsets[place][0]}")
            for place, text in formulas.items()
        },
    )


def _subsets(subsets: Any, where: str) -> tuple[tuple[str, str | None], ...]:
    if not isinstance(subsets, (list, tuple)) or not subsets:
        raise ConfigError("a group needs 'subsets', a list", where=where)
    pairs = [item for item in subsets if not isinstance(item, str)]
    if pairs and len(pairs) < len(subsets):
        raise ConfigError(
            "subsets are either all names or all [name, metric] pairs",
            where=where,
            fix=f"Write [{next(s for s in subsets if isinstance(s, str))!r}, metric] too",
        )
    for item in pairs:
        if not (
            isinstance(item, (list, tuple))
            and len(item) == 2
            and all(isinstance(part, str) for part in item)
        ):
            raise ConfigError(f"subset {item!r} is no [name, metric] pair", where=where)
    found = tuple((item, None) if isinstance(item, str) else (item[0], item[1]) for item in subsets)
    for item in found:
        if found.count(item) > 1:
            raise ConfigError(f"subset {item[0]!r} is there twice", where=where)
    return found


def _method(config: Mapping[str, Any], where: str) -> str:
    for key in ("std", "sum", "harmonic_mean"):
        if not isinstance(config.get(key, False), bool):
            raise ConfigError(f"{key} is true or false, not {config[key]!r}", where=where)
    asked = [key for key in _METHODS if config.get(key) not in (None, False)]
    if len(asked) > 1:
        raise ConfigError(
            f"{' and '.join(asked)} can't be one value", where=where, fix="Make a group of each"
        )
    return _METHODS[asked[0]] if asked else "naive_average"


def _weights(
    weights: Any, subsets: Sequence[tuple[str, str | None]], where: str
) -> tuple[float, ...]:
    found = _by_place(weights, subsets, where, "weights")
    for place, (name, _) in enumerate(subsets):
        if place not in found:
            raise ConfigError(f"weights lack {name!r}", where=where, fix="A weight may be 0")
        weight = found[place]
        is_number = isinstance(weight, (int, float)) and not isinstance(weight, bool)
        if not is_number or not 0 <= weight < _HEAVIEST:
            raise ConfigError(
                f"the weight of {name!r} is {weight!r}", where=where, fix="Weights are 0 or more"
            )
    if not any(found.values()):
        raise ConfigError("the weights sum to 0", where=where, fix="Give one that is above 0")
    return tuple(float(found[place]) for place in range(len(subsets)))


def _by_place(
    table: Any, subsets: Sequence[tuple[str, str | None]], where: str, key: str
) -> dict[int, Any]:
    """Return place -> entry of a dict whose keys are ``name`` or, for a pair, ``name@metric``."""
    if not isinstance(table, Mapping):
        raise ConfigError(f"{key} is a dict with a key for each subset", where=where)
    labels: dict[str, list[int]] = {}
    for place, (name, metric) in enumerate(subsets):
        labels.setdefault(name, []).append(place)
        if metric is not None:
            labels.setdefault(f"{name}@{metric}", []).append(place)
    found: dict[int, Any] = {}
    for label, entry in table.items():
        if label not in labels:
            raise ConfigError(
                f"{key} has {label!r}, which is no subset",
                where=where,
                fix=nearest(str(label), labels),
            )
        places = labels[label]
        if key == "weights" and len(places) > 1:
            raise ConfigError(
                f"the weight of {label!r} fits several subsets",
                where=where,
                fix=f"Write '{label}@{subsets[places[0]][1]}' and so on",
            )
        for place in places:
            if place in found:
                raise ConfigError(f"{key} has {subsets[place][0]!r} twice", where=where)
            found[place] = entry
    return found


def _shares(weights: Sequence[float]) -> list[float]:
    total = math.fsum(weights)
    return [weight / total for weight in weights]


def in_order_of_need(groups: Sequence[SummaryGroup], *, where: str = "") -> list[SummaryGroup]:
    """Return the groups, each after those that it is made of.

    Raises ConfigError where groups need each other. A name may be a dataset's and a group's at
    once: a pair with another metric than the group's own is the dataset's.
    """
    makers: dict[str, list[int]] = {}
    for number, group in enumerate(groups):
        makers.setdefault(group.name, []).append(number)
    needs = {
        number: {
            other
            for name, metric in group.subsets
            for other in makers.get(name, ())
            if groups[other].may_have(metric)
        }
        for number, group in enumerate(groups)
    }
    try:
        return [groups[number] for number in TopologicalSorter(needs).static_order()]
    except CycleError as error:
        names = " -> ".join(groups[number].name for number in reversed(error.args[1]))
        raise ConfigError(f"groups need each other: {names}", where=where) from None
