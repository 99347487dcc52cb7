"""Summarizers whose tables look different."""

from __future__ import annotations

__all__ = ["CircularSummarizer", "EvalScopeSummarizer", "MultiFacetedSummarizer"]

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_evalplug.errors import ConfigError
from pytest_evalplug.run.directory import safe_name
from pytest_evalplug.run.jsonio import write_atomic
from pytest_evalplug.summary.layouts import Facets, ReportTable, circular
from pytest_evalplug.summary.rows import Row
from pytest_evalplug.summary.scores import Scores
from pytest_evalplug.summary.summarizer import Item, Summarizer, read_items
from pytest_evalplug.summary.table import Table


class CircularSummarizer(Summarizer):
    """A line a dataset, and for each model a column for each of ``metric_types``.

    For the metrics of the Evaluator ``circular``. ``dataset_abbrs`` are names alone; without them
    every dataset and group that has one of the metrics is shown.
    """

    layout = staticmethod(circular)

    def __init__(
        self,
        dataset_abbrs: Any = None,
        summary_groups: Any = (),
        metric_types: Any = ("acc_origin", "perf_circular"),
    ) -> None:
        super().__init__(dataset_abbrs, summary_groups)
        if not _are_names(metric_types) or not metric_types:
            raise ConfigError("is a list of metrics", where="metric_types")
        if any(metric is not None for _, metric in self.items or ()):
            raise ConfigError(
                "has a pair; which metrics are shown is said by 'metric_types'",
                where="dataset_abbrs",
                fix="Write the name alone",
            )
        self.metric_types = list(metric_types)
        self._config["metric_types"] = self.metric_types

    def tabulate(self, scores: Scores, notes: Iterable[str] = ()) -> Table:
        """Return the table; a note says so if there is none of the metrics."""
        table = super().tabulate(scores, notes)
        if any(cell for row in table.rows for cell in row.cells):
            return table
        why = f"there is no {', '.join(self.metric_types)}: the Evaluator 'circular' has them"
        return replace(table, notes=(*table.notes, why))

    def select(self, scores: Scores) -> list[Row]:
        """Return a row for each name and metric; without any of the metrics a row of dashes."""
        if self.items is None:
            return [row for row in scores.listed() if row.metric in self.metric_types]
        found: list[Row] = []
        for name, _ in self.items:
            rows = [scores.requested(name, metric) for metric in self.metric_types]
            there = [row for part in rows for row in part if any(row.cells)]
            found += there or rows[0]
        return found


class MultiFacetedSummarizer(Summarizer):
    """Several tables of one run, each with its name: ``dict(name=..., dataset_abbrs=[...])``.

    What no model has is left out, and so is a table without rows. Each table is also a file,
    ``summary_<time>/<name>.csv``.
    """

    def __init__(self, dataset_abbrs_list: Any = (), summary_groups: Any = ()) -> None:
        super().__init__(None, summary_groups)
        self._config = {"dataset_abbrs_list": dataset_abbrs_list, "summary_groups": summary_groups}
        self.facets = _facets(dataset_abbrs_list)

    def summarize(self, output_path: str | None = None, time_str: str | None = None) -> Table:
        """Write the tables together, and each alone."""
        path = self.path(output_path, time_str)
        table = super().summarize(str(path), time_str)
        assert isinstance(table.layout, Facets)
        for name, rows in table.layout.parts.items():
            if rows:
                part = Table(table.models, tuple(rows))
                write_atomic(path.with_suffix("") / f"{safe_name(name)}.csv", part.csv())
        return table

    def tabulate(self, scores: Scores, notes: Iterable[str] = ()) -> Table:
        """Return one table that is printed as several."""
        table = super().tabulate(scores, notes)
        parts = {name: _measured(scores, items) for name, items in self.facets.items()}
        return replace(table, layout=Facets(parts))

    def select(self, scores: Scores) -> list[Row]:
        """Return the rows of all tables, each once."""
        items = (item for part in self.facets.values() for item in part)
        return list(dict.fromkeys(_measured(scores, items)))


class EvalScopeSummarizer(Summarizer):
    """EvalScope's report table: Model, Dataset, Metric, Subset, Num, Score (0-1), Cat.0.

    The category of a subset is the first summary group that it is in.
    """

    def tabulate(self, scores: Scores, notes: Iterable[str] = ()) -> Table:
        """Return the table, laid out that way."""
        table = super().tabulate(scores, notes)
        places = {name: (name, "default") for name in scores.measured}
        places |= {dataset.name: (dataset.benchmark, dataset.subset) for dataset in self.datasets}
        categories: dict[str, str] = {}
        for group in self.groups:
            for name, _ in group.subsets:
                categories.setdefault(name, group.name)
        return replace(table, layout=ReportTable(places, categories))


def _measured(scores: Scores, items: Iterable[Item]) -> list[Row]:
    rows = (row for item in items for row in scores.requested(*item))
    return [row for row in rows if any(row.cells)]


def _facets(configs: Any) -> dict[str, list[Item]]:
    where = "dataset_abbrs_list"
    if not isinstance(configs, Sequence) or isinstance(configs, str):
        raise ConfigError("is a list of tables", where=where)
    facets: dict[str, list[Item]] = {}
    for number, config in enumerate(configs):
        if not isinstance(config, Mapping) or set(config) != {"name", "dataset_abbrs"}:
            raise ConfigError("is a dict of 'name' and 'dataset_abbrs'", where=f"{where}[{number}]")
        name = config["name"]
        if not isinstance(name, str) or name in facets:
            raise ConfigError(
                f"{name!r} is no name, or another table has it", where=f"{where}[{number}]"
            )
        facets[name] = read_items(config["dataset_abbrs"], where=f"{where}[{number}]")
    return facets


def _are_names(names: Any) -> bool:
    return isinstance(names, (list, tuple)) and all(isinstance(name, str) for name in names)
