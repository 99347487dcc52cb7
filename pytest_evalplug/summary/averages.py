"""A benchmark with several subsets has averages of its own, or says which subsets it lacks."""

from __future__ import annotations

__all__ = ["AVERAGES", "average_entries", "joined", "missing_subsets", "spread"]

import math
from collections.abc import Iterable, Mapping, Sequence

from pytest_evalplug.evaluation.statistics import Interval
from pytest_evalplug.run.jsonio import digest
from pytest_evalplug.run.results import EXTRACT_RATE
from pytest_evalplug.summary.rows import (
    Cell,
    DatasetRef,
    Entry,
    Results,
    cell_of,
    first_metric,
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
    ``<metric>_naive_average`` and so on. A model that lacks a subset has none; without any scored
    sample there is nothing to weight by.
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
        cells = {part.dataset: cell_of(part, metric) for part in parts}
        samples = {name: cell.n for name, cell in cells.items()}
        scale = known_scale(metric)
        naive = _mean(cells, [1] * len(cells))
        found.append(Entry(version, prefix + _NAIVE, mode, naive, samples, scale, metric))
        if any(samples.values()):
            weighted = _mean(cells, [*samples.values()])
            found.append(Entry(version, prefix + _WEIGHTED, mode, weighted, samples, scale))
    return found


def _mean(parts: Mapping[str, Cell], weights: Sequence[int]) -> Cell:
    """Return sum(w x) / sum(w) over the subsets, which are independent."""
    total, cells = sum(weights), [*parts.values()]
    value = math.fsum(w * c.value for w, c in zip(weights, cells, strict=True)) / total
    return Cell(
        value,
        sum(cell.n for cell in cells),
        *spread(value, [weight / total for weight in weights], cells),
        joined((name, cell.incomplete) for name, cell in parts.items()),
    )


def spread(
    value: float, factors: Sequence[float], cells: Sequence[Cell]
) -> tuple[float | None, Interval | None]:
    """Return standard error and 95 % interval of a ``value`` that is linear in independent cells.

    With ``factors`` f, the error is the root of the summed squares of f times the cells' errors. So
    is each end's distance of the interval, of the distances of the cells' own ends (MOVER: Zou and
    Donner 2008, Statistics in Medicine 27, 1693): it keeps their asymmetry, stays within their
    range, and is no point where all are right or none is. Each is None where a cell lacks its own.
    """
    errors = [cell.stderr for cell in cells if cell.stderr is not None]
    stderr = interval = None
    if len(errors) == len(cells):
        stderr = math.hypot(*(f * e for f, e in zip(factors, errors, strict=True)))
    ends = [
        sorted((f * (cell.interval[0] - cell.value), f * (cell.interval[1] - cell.value)))
        for f, cell in zip(factors, cells, strict=True)
        if cell.interval is not None
    ]
    if len(ends) == len(cells):
        below, above = (math.hypot(*side) for side in zip(*ends, strict=True))
        interval = value - below, value + above
    return stderr, interval


def joined(reasons: Iterable[tuple[str, str | None]]) -> str | None:
    """Return why a value made of others is incomplete: the first of them, and how many more."""
    known = [f"{name}: {why}" for name, why in reasons if why]
    return f"{known[0]}; {len(known) - 1} more" if len(known) > 1 else next(iter(known), None)


def _common(values: Sequence[str]) -> str | None:
    return values[0] if len(set(values)) == 1 else None
