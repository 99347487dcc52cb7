"""A benchmark with several subsets has averages of its own, or says which subsets it lacks."""

from __future__ import annotations

__all__ = ["average_rows", "missing_subsets"]

import math
from collections.abc import Sequence

from pytest_evalplug.run.jsonio import digest
from pytest_evalplug.run.results import EXTRACT_RATE, ResultFile
from pytest_evalplug.summary.rows import (
    Cell,
    DatasetRef,
    Entry,
    Results,
    Row,
    metrics_in_order,
    pivot,
)

_NAIVE, _WEIGHTED = "naive_average", "weighted_average"


def average_rows(dataset: DatasetRef, models: Sequence[str], results: Results) -> list[Row]:
    """Return the benchmark's average rows: mean of subsets, and mean weighted by scored samples.

    The first metric's are called ``naive_average`` and ``weighted_average``, another's
    ``<metric>_naive_average`` and so on. A model that lacks a subset has no average.
    """
    entries = [_entries(dataset, model, results) for model in models]
    empty = (None,) * len(models)
    return pivot(dataset.benchmark, entries) or [
        Row(dataset.benchmark, "-", metric, "-", empty) for metric in (_NAIVE, _WEIGHTED)
    ]


def missing_subsets(dataset: DatasetRef, model: str, results: Results) -> list[str]:
    """Return the benchmark's subsets for which ``model`` has no metric."""
    found = {subset: results.get((model, dataset.sibling(subset))) for subset in dataset.subsets}
    return [subset for subset, result in found.items() if not (result and result.scores)]


def _entries(dataset: DatasetRef, model: str, results: Results) -> list[Entry]:
    if missing_subsets(dataset, model, results):
        return []
    parts = [results[model, dataset.sibling(subset)] for subset in dataset.subsets]
    first, *others = parts
    shared = [m for m in metrics_in_order(first) if all(m in part.metrics for part in others)]
    version = _common([p.version for p in parts]) or digest([p.version for p in parts], 6)
    mode = _common([p.mode for p in parts]) or "unknown"
    found = []
    for metric in shared:
        prefix = "" if metric == shared[0] and metric != EXTRACT_RATE else f"{metric}_"
        sizes = [float(part.samples_of(metric)) for part in parts]
        found.append(
            Entry(version, prefix + _NAIVE, mode, _mean(parts, metric, [1.0] * len(parts)))
        )
        found.append(Entry(version, prefix + _WEIGHTED, mode, _mean(parts, metric, sizes)))
    return found


def _mean(parts: Sequence[ResultFile], metric: str, weights: Sequence[float]) -> Cell:
    """Return sum(w x) / sum(w); the subsets are independent, so their variances add."""
    total = sum(weights)
    value = math.fsum(w * p.metrics[metric] for w, p in zip(weights, parts, strict=True)) / total
    errors = [part.stderr.get(metric) for part in parts]
    known = [error for error in errors if error is not None]
    stderr = None
    if len(known) == len(parts):
        stderr = math.hypot(*(w * e for w, e in zip(weights, known, strict=True))) / total
    return Cell(value, sum(part.samples_of(metric) for part in parts), stderr)


def _common(values: Sequence[str]) -> str | None:
    return values[0] if len(set(values)) == 1 else None
