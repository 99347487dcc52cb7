"""What a score alone would hide: errors, partial runs, missing subsets, the standard error."""

from __future__ import annotations

__all__ = ["notes_for", "precision_lines"]

from collections.abc import Sequence

from pytest_evalplug.run.results import ResultFile
from pytest_evalplug.summary.averages import missing_subsets
from pytest_evalplug.summary.rows import DatasetRef, Results, Row, metrics_in_order

_SHOWN = 5


def notes_for(models: Sequence[str], datasets: Sequence[DatasetRef], results: Results) -> list[str]:
    """Return one line for each thing that a reader of the table has to know."""
    notes = [
        _coverage(result)
        for dataset in datasets
        for model in models
        if (result := results.get((model, dataset.name))) and result.num_scored < result.num_samples
    ]
    benchmarks = {dataset.benchmark: dataset for dataset in datasets}
    for dataset in benchmarks.values():
        for model in models:
            notes += _missing(dataset, model, results)
    return notes + _partial(models, datasets, results)


def precision_lines(models: Sequence[str], rows: Sequence[Row]) -> list[str]:
    """Return ``<dataset> <model>: <metric> <value> ± <standard error> (n = ...)`` lines."""
    return [
        f"{row.dataset} {model}: {row.metric} {cell.value:.2f} ± {cell.stderr:.2f} (n = {cell.n})"
        for row in rows
        for model, cell in zip(models, row.cells, strict=True)
        if cell is not None and cell.stderr is not None
    ]


def _coverage(result: ResultFile) -> str:
    metric = next(iter(metrics_in_order(result)), None)
    parts = [_scored(result, metric)]
    if result.num_errors:
        parts.append(f"{result.num_errors} {'error' if result.num_errors == 1 else 'errors'}")
    if result.num_skipped:
        parts.append(f"{result.num_skipped} skipped")
    if metric in result.if_errors_wrong:
        parts.append(f"{result.if_errors_wrong[metric]:.1f} if errors count as wrong")
    return f"{result.dataset} {result.model}: {'; '.join(parts)}"


def _scored(result: ResultFile, metric: str | None) -> str:
    if metric is None:
        return f"{result.num_scored} of {result.num_samples} scored"
    value = result.metrics[metric]
    if result.num_correct is None:
        return f"{result.num_scored} of {result.num_samples} scored, {metric} {value:.1f}"
    right = f"{result.num_correct} right of {result.num_scored} scored"
    is_share = abs(value - 100 * result.num_correct / result.num_scored) < 0.05
    return f"{right} = {value:.1f}" if is_share else f"{right}, {metric} {value:.1f}"


def _missing(dataset: DatasetRef, model: str, results: Results) -> list[str]:
    missing = missing_subsets(dataset, model, results)
    if not missing or len(dataset.subsets) == 1:
        return []
    named = ", ".join(missing[:_SHOWN])
    rest = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
    there = len(dataset.subsets) - len(missing)
    coverage = f"{there} of {len(dataset.subsets)} subsets have a result"
    return [f"{dataset.benchmark} {model}: no average, {coverage}; missing: {named}{rest}"]


def _partial(models: Sequence[str], datasets: Sequence[DatasetRef], results: Results) -> list[str]:
    """Return a line for each benchmark and model of which only some samples were run."""
    counts: dict[tuple[str, str], int] = {}
    for dataset in datasets:
        for model in models:
            result = results.get((model, dataset.name))
            if result and result.partial:
                key = (dataset.benchmark, model)
                counts[key] = counts.get(key, 0) + result.num_samples
    return [
        f"{benchmark} {model}: partial run, {count} samples; not the benchmark's score"
        for (benchmark, model), count in counts.items()
    ]
