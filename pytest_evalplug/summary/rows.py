"""Rows of the summary: what is measured, under which version and mode, one cell a model."""

from __future__ import annotations

__all__ = [
    "Cell",
    "DatasetRef",
    "Entry",
    "Results",
    "Row",
    "dataset_rows",
    "metrics_in_order",
    "pivot",
    "read_results",
]

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from pytest_evalplug.run.directory import RunDirectory
from pytest_evalplug.run.results import EXTRACT_RATE, ResultFile, dataset_name

_COMMON = ("accuracy", "score", "exact_match", "f1", "rouge1")

Results: TypeAlias = Mapping[tuple[str, str], ResultFile]
"""(model, dataset) -> result, without details; absent where nothing was measured."""


@dataclass(frozen=True, slots=True)
class DatasetRef:
    """A dataset that belongs in the table, measured or not.

    ``subsets`` are all that the benchmark declares, also those that this run leaves out: without
    them its average is not the benchmark's.
    """

    benchmark: str
    subset: str = "default"
    subsets: tuple[str, ...] = ("default",)

    @property
    def name(self) -> str:
        """What the dataset is called in files and tables."""
        return self.sibling(self.subset)

    def sibling(self, subset: str) -> str:
        """Return what another subset of the benchmark is called."""
        return dataset_name(self.benchmark, subset, several=len(self.subsets) > 1)


@dataclass(frozen=True, slots=True)
class Cell:
    """A metric's value, on its own scale, over ``n`` scored samples, and its standard error.

    ``interval`` is the 95 % confidence interval; ``incomplete`` says in a few words why the value
    is not that of the whole dataset.
    """

    value: float
    n: int
    stderr: float | None = None
    interval: tuple[float, float] | None = None
    incomplete: str | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; a cell is None where a model has no such result."""

    dataset: str
    version: str
    metric: str
    mode: str
    cells: tuple[Cell | None, ...]


class Entry(NamedTuple):
    """A cell and the row that it belongs to."""

    version: str
    metric: str
    mode: str
    cell: Cell


def read_results(
    run: RunDirectory, models: Iterable[str], datasets: Iterable[DatasetRef]
) -> dict[tuple[str, str], ResultFile]:
    """Read what there is for the models and datasets."""
    names = [dataset.name for dataset in datasets]
    found = {
        (model, name): ResultFile.read(run, model, name, details=False)
        for model in models
        for name in names
    }
    return {key: result for key, result in found.items() if result}


def dataset_rows(dataset: str, models: Sequence[str], results: Results) -> list[Row]:
    """Return a dataset's rows, one a metric; without any score a first row of dashes."""
    rows = pivot(dataset, [_entries(results.get((model, dataset))) for model in models])
    if all(row.metric == EXTRACT_RATE for row in rows):
        rows.insert(0, Row(dataset, "-", "-", "-", (None,) * len(models)))
    return rows


def pivot(dataset: str, entries: Sequence[Sequence[Entry]]) -> list[Row]:
    """Return rows from each model's entries; other versions or modes are rows of their own."""
    cells: dict[tuple[str, str, str], list[Cell | None]] = {}
    for column, row in enumerate(entries):
        for entry in row:
            key = (entry.version, entry.metric, entry.mode)
            cells.setdefault(key, [None] * len(entries))[column] = entry.cell
    return [Row(dataset, *key, tuple(row)) for key, row in cells.items()]


def _entries(result: ResultFile | None) -> list[Entry]:
    if result is None:
        return []
    return [
        Entry(
            result.version,
            name,
            result.mode,
            Cell(result.metrics[name], result.samples_of(name), result.stderr.get(name)),
        )
        for name in metrics_in_order(result)
    ]


def metrics_in_order(result: ResultFile) -> list[str]:
    """Return the metrics for a table, well-known ones first, else as the Evaluator gave them.

    The extraction rate comes last.
    """
    rank = {name: place for place, name in enumerate(_COMMON)} | {EXTRACT_RATE: len(_COMMON) + 1}
    listed = (name for name in result.metrics if name not in result.unlisted)
    return sorted(listed, key=lambda name: rank.get(name, len(_COMMON)))
