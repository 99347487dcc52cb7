"""A benchmark with several subsets has averages of its own, or says which subsets it lacks."""

from __future__ import annotations

__all__ = ["AVERAGES", "average_entries", "interval", "joined", "missing_subsets"]

import math
from collections.abc import Iterable, Sequence

from pytest_evalplug.evaluation.statistics import normal_interval
from pytest_evalplug.run.jsonio import digest
from pytest_evalplug.run.results import EXTRACT_RATE, ResultFile
from pytest_evalplug.summary.rows import (
    Cell,
    DatasetRef,
    Entry,
    Results,
    first_metric,
    incomplete,
    known_scale,
    metrics_in_order,
)

AVERAGES = _NAIVE, _WEIGHTED = "naive_average", "weighted_average"


def missing_subsets(dataset: DatasetRef, model: str, results: Results) -> list[str]:
    """Return the benchmark's subsets for which ``model`` has no metric."""
    found = {subset: results.get((model, dataset.sibling(subset))) for subset in dataset.subsets}
    return [subset for subset, result in found.items() if not (result and result.scores)]


def average_entries(dataset: DatasetRef, model: str, results: Results) -> list[Entry]:
    """Return the benchmark's averages: mean of subsets, and mean weighted by scored samples.

    The first metric's are called ``naive_average`` and ``weighted_average``, another's
    ``<metric>_naive_average`` and so on. A model that lacks a subset has none.
    """
    if missing_subsets(dataset, model, results):
        return []
    parts = [results[model, dataset.sibling(subset)] for subset in dataset.subsets]
    first, *others = parts
    shared = [m for m in metrics_in_order(first) if all(m in part.metrics for part in others)]
    version = _common([p.version for p in parts]) or digest([p.version for p in parts], 6)
    mode = _common([p.mode for p in parts]) or "mixed"
    main = first_metric(shared)
    found = []
    for metric in shared:
        prefix = "" if metric == main and metric != EXTRACT_RATE else f"{metric}_"
        samples = {part.dataset: part.samples_of(metric) for part in parts}
        scale = known_scale(metric)
        for name, weights in ((_NAIVE, [1] * len(parts)), (_WEIGHTED, [*samples.values()])):
            cell = _mean(parts, metric, weights, scale)
            found.append(Entry(version, prefix + name, mode, cell, samples, scale))
    return found


def _mean(parts: Sequence[ResultFile], metric: str, weights: Sequence[int], scale: float) -> Cell:
    """Return sum(w x) / sum(w); the subsets are independent, so their variances add."""
    total = sum(weights)
    value = math.fsum(w * p.metrics[metric] for w, p in zip(weights, parts, strict=True)) / total
    n = sum(part.samples_of(metric) for part in parts)
    why = joined((part.dataset, incomplete(part)) for part in parts)
    errors = [part.stderr[metric] for part in parts if metric in part.stderr]
    if len(errors) < len(parts):
        return Cell(value, n, incomplete=why)
    stderr = math.hypot(*(w * e for w, e in zip(weights, errors, strict=True))) / total
    return Cell(value, n, stderr, interval(value, stderr, scale), why)


def interval(value: float, stderr: float, scale: float) -> tuple[float, float]:
    """Return the 95 % interval of a mean; one in percent stays within 0 and 100."""
    bounds = (0.0, 100.0) if scale == 100 and 0 <= value <= 100 else (-math.inf, math.inf)
    return normal_interval(value, stderr, bounds=bounds)


def joined(reasons: Iterable[tuple[str, str | None]]) -> str | None:
    """Return why a value made of others is incomplete: the first of them, and how many more."""
    known = [f"{name}: {why}" for name, why in reasons if why]
    return f"{known[0]}; {len(known) - 1} more" if len(known) > 1 else next(iter(known), None)


def _common(values: Sequence[str]) -> str | None:
    return values[0] if len(set(values)) == 1 else None
