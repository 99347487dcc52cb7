"""All values that a summary is made of: measured, benchmarks' averages, groups'."""

from __future__ import annotations

__all__ = ["Scores", "read_scores"]

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pytest_evalplug.errors import EvalplugError
from pytest_evalplug.run.results import EXTRACT_RATE
from pytest_evalplug.summary.averages import AVERAGES, average_entries, joined, spread
from pytest_evalplug.summary.groups import SummaryGroup, in_order_of_need
from pytest_evalplug.summary.rows import (
    Cell,
    DatasetRef,
    Entry,
    Results,
    Row,
    first_metric,
    in_order,
    known_scale,
    pivot,
    result_entries,
)

_SHOWN = 5

Entries = dict[str, dict[str, Entry]]
"""Name -> metric -> a model's value, metrics in the order of the table."""


@dataclass(slots=True)
class Scores:
    """The values of several models under the names of datasets, benchmarks and groups.

    Made from results by :func:`read_scores`, or by :meth:`of` from plain numbers;
    :meth:`add_groups` adds the groups' values.
    """

    models: tuple[str, ...]
    entries: dict[str, Entries]
    """Model -> its values."""
    measured: tuple[str, ...]
    """The datasets, in the order of the table."""
    averaged: frozenset[str] = frozenset()
    """The benchmarks that have averages over their subsets."""
    names: list[str] = field(default_factory=list)
    """Everything that has rows, in the order of the table."""
    groups: tuple[SummaryGroup, ...] = ()
    reasons: dict[tuple[str, str, str], str] = field(default_factory=dict)
    """(model, group, metric) -> why there is no such value."""

    @classmethod
    def of(cls, values: Mapping[str, Mapping[str, Mapping[str, float]]]) -> Scores:
        """Return scores from model -> dataset -> metric -> value, metrics in the order given."""
        names = list(dict.fromkeys(name for found in values.values() for name in found))
        entries = {
            model: {
                name: {
                    metric: Entry(
                        "-", metric, "unknown", Cell(value, 0), {name: 0}, known_scale(metric)
                    )
                    for metric, value in metrics.items()
                }
                for name, metrics in found.items()
            }
            for model, found in values.items()
        }
        return cls(tuple(values), entries, tuple(names), names=names)

    def add_groups(self, groups: Sequence[SummaryGroup]) -> None:
        """Compute the groups of every model, in whatever order they are declared."""
        self.groups = tuple(groups)
        for group in in_order_of_need(groups):
            for model in self.models:
                self._add(group, model)
        self.names = list(dict.fromkeys([*self.names, *(group.name for group in groups)]))

    def rows(self, name: str) -> list[Row]:
        """Return the rows under a name; what there should be and isn't is a row of dashes."""
        rows = pivot(name, [self.entries[model].get(name, {}).values() for model in self.models])
        there = {row.metric for row in rows}
        if name in self.measured and there <= {EXTRACT_RATE}:
            rows.insert(0, self._dashes(name))
        wanted = [group.metric for group in self.groups if group.name == name]
        if name in self.averaged and not there:
            wanted = [*AVERAGES, *wanted]
        return rows + [
            self._dashes(name, metric) for metric in dict.fromkeys(wanted) if metric not in there
        ]

    def listed(self) -> list[Row]:
        """Return all rows but those of groups of which no subset was measured."""
        return [
            row for name in self.names if self._is_partly_there(name) for row in self.rows(name)
        ]

    def requested(self, name: str, metric: str | None) -> list[Row]:
        """Return the rows of a metric (None: the first there is), or one row of dashes."""
        if metric is None:
            every = (self.entries[model].get(name, {}) for model in self.models)
            metric = first_metric(in_order(dict.fromkeys(m for found in every for m in found)))
        found = [row for row in self.rows(name) if row.metric == metric and any(row.cells)]
        return found or [self._dashes(name)]

    def notes(self, rows: Iterable[Row]) -> Iterator[str]:
        """Yield why groups in ``rows`` have no value of their own, or none of a metric there."""
        rows = list(rows)
        names, metrics = {row.dataset for row in rows}, {row.metric for row in rows}
        own = {(group.name, group.metric) for group in self.groups}
        for (model, name, metric), reason in self.reasons.items():
            if name in names and (metric in metrics or (name, metric) in own):
                yield f"{name} {model}: no {metric}, {reason}"

    def _add(self, group: SummaryGroup, model: str) -> None:
        """Compute a group's values for one model, or note why there are none."""
        entries = self.entries[model]
        firsts = [self._input(model, name, metric) for name, metric in group.subsets]
        inputs = [entry for entry in firsts if entry is not None]
        if len(inputs) < len(firsts):
            self.reasons[model, group.name, group.metric] = _missing(group, firsts)
            return
        wanted = {group.metric: inputs}
        if group.is_bare:
            parts = [entries[name] for name, _ in group.subsets]
            shared = [m for m in parts[0] if all(m in part for part in parts)]
            wanted = {m: [part[m] for part in parts] for m in shared} | wanted
        own = entries.setdefault(group.name, {})
        found: dict[str, Entry] = {}
        for metric, values in wanted.items():
            try:
                if group.name in self.measured and metric in own:
                    raise EvalplugError("the dataset of that name has that metric")
                found[metric] = _group_entry(group, metric, values)
            except EvalplugError as error:
                self.reasons[model, group.name, metric] = error.what
        merged = {**own, **{metric: found[metric] for metric in in_order(found)}}
        entries[group.name] = merged

    def _input(self, model: str, name: str, metric: str | None) -> Entry | None:
        """Return a subset's value; a bare name that is a group without its own value has none."""
        entries = self.entries[model].get(name, {})
        if metric is None:
            failed = any((model, name, g.metric) in self.reasons for g in self.groups)
            metric = None if failed else first_metric(entries)
        return None if metric is None else entries.get(metric)

    def _is_partly_there(self, name: str) -> bool:
        """Tell whether a name is not just that of groups without any measured subset."""
        if name in self.measured or name in self.averaged:
            return True
        return any(
            self._input(model, *subset)
            for group in self.groups
            if group.name == name
            for model in self.models
            for subset in group.subsets
        )

    def _dashes(self, name: str, metric: str = "-") -> Row:
        return Row(name, "-", metric, "-", (None,) * len(self.models))


def read_scores(models: Sequence[str], datasets: Sequence[DatasetRef], results: Results) -> Scores:
    """Return what was measured; a benchmark's averages come after its last dataset."""
    last = {dataset.benchmark: dataset for dataset in datasets}
    averaged = {d.benchmark: d for d in datasets if len(d.subsets) > 1}
    names: list[str] = []
    for dataset in datasets:
        names.append(dataset.name)
        if dataset.benchmark in averaged and dataset is last[dataset.benchmark]:
            names.append(dataset.benchmark)
    entries: dict[str, Entries] = {}
    for model in models:
        found = {d.name: result_entries(results.get((model, d.name))) for d in datasets}
        for name, dataset in averaged.items():
            found[name] = average_entries(dataset, model, results)
        entries[model] = {
            name: {entry.metric: entry for entry in found[name]} for name in names if found[name]
        }
    measured = tuple(dataset.name for dataset in datasets)
    return Scores(tuple(models), entries, measured, frozenset(averaged), names)


def _missing(group: SummaryGroup, found: Sequence[Entry | None]) -> str:
    missing = [group.label(place) for place, entry in enumerate(found) if entry is None]
    named = ", ".join(missing[:_SHOWN])
    rest = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
    there = len(found) - len(missing)
    return f"{there} of {len(found)} subsets have a result; missing: {named}{rest}"


def _group_entry(group: SummaryGroup, metric: str, inputs: Sequence[Entry]) -> Entry:
    """Return a group's value with what is known of it. Raises EvalplugError without a value."""
    cells = [entry.cell for entry in inputs]
    value = group.aggregate([cell.value for cell in cells])
    samples = {name: n for entry in inputs for name, n in entry.samples.items()}
    modes = {entry.mode for entry in inputs}
    are_independent = len(samples) == sum(len(entry.samples) for entry in inputs)
    factors = group.coefficients() if are_independent else None
    names = (name for name, _ in group.subsets)
    scales = {1.0 if group.transforms or group.method == "sum" else e.scale for e in inputs}
    scale = scales.pop() if len(scales) == 1 else 1.0
    cell = Cell(
        value,
        sum(samples.values()),
        *((None, None) if factors is None else spread(value, factors, cells)),
        joined(zip(names, (cell.incomplete for cell in cells), strict=True)),
    )
    mode = modes.pop() if len(modes) == 1 else "mixed"
    return Entry("-", metric, mode, cell, samples, scale)
