"""Rows of the summary: what is measured, under which version and mode, one cell a model."""

from __future__ import annotations

__all__ = [
    "NEVER_SHOWN",
    "Cell",
    "DatasetRef",
    "Entry",
    "Results",
    "Row",
    "cell_of",
    "dataset_rows",
    "first_metric",
    "in_order",
    "incomplete",
    "known_scale",
    "metrics_in_order",
    "pivot",
    "read_results",
    "result_entries",
]

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

from pytest_evalplug.evaluation.outcome import scale_of
from pytest_evalplug.run.directory import RunDirectory
from pytest_evalplug.run.results import EXTRACT_RATE, ResultFile, dataset_name

_ORDER = (
    *("score", "auc_score", "accuracy", "humaneval_pass@1", "rouge1", "avg_toxicity_score"),
    *("bleurt_diff", "matthews_correlation", "truth", "f1", "exact_match", EXTRACT_RATE),
)
_PERCENT = re.compile(r"(G-|mG-)?(pass|maj)@.+|.+_circular|acc_origin|mc2|extract_rate")
"""Metrics in percent whose Evaluators alone know it; a result does not say."""
NEVER_SHOWN = ("bp", "sys_len", "ref_len", "type")
"""Parts of BLEU, and a label: no scores, whatever an Evaluator returns under these names."""

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
    """One line of the table; a cell is None where a model has no such result.

    ``scale`` is what would be 1 on a 0-1 scale: 100 is percent, 1 may also be a scale that nobody
    knows. ``mean_of`` is the metric whose plain mean over a benchmark's subsets this is.
    """

    dataset: str
    version: str
    metric: str
    mode: str
    cells: tuple[Cell | None, ...]
    scale: float = 1.0
    mean_of: str | None = None


class Entry(NamedTuple):
    """A cell and the row that it belongs to, whose ``scale`` and ``mean_of`` are a Row's.

    ``samples`` says how many of which dataset are in the value.
    """

    version: str
    metric: str
    mode: str
    cell: Cell
    samples: Mapping[str, int] = {}
    scale: float = 1.0
    mean_of: str | None = None


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
    entries = [result_entries(results.get((model, dataset))) for model in models]
    rows = pivot(dataset, entries)
    if all(row.metric == EXTRACT_RATE for row in rows):
        rows.insert(0, Row(dataset, "-", "-", "-", (None,) * len(models)))
    return rows


def pivot(name: str, entries: Sequence[Iterable[Entry]]) -> list[Row]:
    """Return rows from each model's entries; what is not alike in them is a row of its own.

    That is another version or mode, and for averages and groups whose subsets' first metrics differ
    between models another scale or ``mean_of``.
    """
    rows: dict[Row, list[Cell | None]] = {}
    for column, row in enumerate(entries):
        for entry in row:
            key = Row(name, entry.version, entry.metric, entry.mode, (), entry.scale, entry.mean_of)
            rows.setdefault(key, [None] * len(entries))[column] = entry.cell
    return [replace(key, cells=tuple(cells)) for key, cells in rows.items()]


def result_entries(result: ResultFile | None) -> list[Entry]:
    """Return an entry for each metric of a result that is shown, in order."""
    if result is None:
        return []
    return [
        Entry(
            result.version,
            name,
            result.mode,
            cell := cell_of(result, name),
            {result.dataset: cell.n},
            known_scale(name),
        )
        for name in metrics_in_order(result)
    ]


def cell_of(result: ResultFile, metric: str) -> Cell:
    """Return what a result says of one of its metrics."""
    return Cell(
        result.metrics[metric],
        result.samples_of(metric),
        result.stderr.get(metric),
        result.intervals.get(metric),
        incomplete(result),
    )


def known_scale(metric: str) -> float:
    """Return 100 for metrics that are known to be in percent, else 1."""
    return 100.0 if _PERCENT.fullmatch(metric) else scale_of(metric)


def incomplete(result: ResultFile) -> str | None:
    """Return in a few words why a result is not the whole dataset's, None where it is."""
    shard = f" (shard {result.shard})" if result.shard else ""
    reasons = [f"partial run{shard}"] if result.partial else []
    if result.num_errors:
        reasons.append(f"{result.num_errors} {'error' if result.num_errors == 1 else 'errors'}")
    return ", ".join(reasons) or None


def metrics_in_order(result: ResultFile) -> list[str]:
    """Return the metrics for a table, well-known ones first, else as the Evaluator gave them."""
    return in_order(name for name in result.metrics if name not in result.unlisted)


def in_order(metrics: Iterable[str]) -> list[str]:
    """Return metrics as tables list them: OpenCompass's order, the others after, some never."""
    rank = {name: place for place, name in enumerate(_ORDER)}
    shown = (name for name in metrics if name not in NEVER_SHOWN)
    return sorted(shown, key=lambda name: rank.get(name, len(_ORDER)))


def first_metric(metrics: Iterable[str]) -> str | None:
    """Return the metric that a bare name stands for: the first.

    The extraction rate, which is not about how good the replies are, only if there is no other.
    """
    names = list(metrics)
    return next((name for name in names if name != EXTRACT_RATE), names[0] if names else None)
