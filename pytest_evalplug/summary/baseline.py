"""Gates against an earlier run: no dataset's score may drop."""

from __future__ import annotations

__all__ = ["Allowed", "check_baseline"]

import math
from collections.abc import Iterator
from typing import NamedTuple

from pytest_evalplug.errors import DataError
from pytest_evalplug.run.results import ResultFile
from pytest_evalplug.run.saved_run import SavedRun
from pytest_evalplug.summary.comparison import compare_results, shared_metrics
from pytest_evalplug.summary.gates import GateResult
from pytest_evalplug.summary.rows import incomplete


class Allowed(NamedTuple):
    """What a score may be below the baseline's.

    ``drop`` is in the metric's own unit; with ``significance`` only a drop counts whose two-sided
    p-value, paired over the samples of both runs, is smaller.
    """

    drop: float = 0.0
    significance: float | None = None


def check_baseline(
    baseline: SavedRun, run: SavedRun, allowed: Allowed
) -> tuple[list[GateResult], list[str]]:
    """Return a gate for each dataset and model that both runs have, and notes on the others.

    The first metric that both have is compared. A model that the baseline doesn't have is compared
    with the baseline's only one; if that has several, a failed gate of the model says so. A lower
    score is taken for a worse one.
    """
    known: dict[str, list[str]] = {}
    for model, dataset in baseline.tables():
        known.setdefault(dataset, []).append(model)
    tables = run.tables()
    results = [
        _compare(baseline, run, dataset, (before, model), allowed)
        for model, dataset in tables
        if (before := _counterpart(known.get(dataset, []), model))
    ]
    results += _without_counterpart(baseline, known, tables)
    if not results:
        why = f"the baseline {baseline.name} has no dataset in common with this run"
        results = [GateResult("baseline", "", "failed", why)]
    return results, list(_unmatched(baseline, known, tables))


def _counterpart(known: list[str], model: str) -> str | None:
    if model in known:
        return model
    return known[0] if len(known) == 1 else None


def _without_counterpart(
    baseline: SavedRun, known: dict[str, list[str]], tables: list[tuple[str, str]]
) -> Iterator[GateResult]:
    open_ones: dict[str, list[str]] = {}
    for model, dataset in tables:
        if dataset in known and _counterpart(known[dataset], model) is None:
            open_ones.setdefault(model, []).append(dataset)
    for model, datasets in open_ones.items():
        others = ", ".join(dict.fromkeys(m for dataset in datasets for m in known[dataset]))
        why = f"the baseline {baseline.name} has other models on {', '.join(datasets)}: {others}"
        yield GateResult("baseline", model, "failed", why)


def _unmatched(
    baseline: SavedRun, known: dict[str, list[str]], tables: list[tuple[str, str]]
) -> Iterator[str]:
    measured: dict[str, list[str]] = {}
    for model, dataset in tables:
        measured.setdefault(dataset, []).append(model)
    if gone := [dataset for dataset in known if dataset not in measured]:
        yield f"not compared, only in the baseline {baseline.name}: {', '.join(gone)}"
    if new := [dataset for dataset in measured if dataset not in known]:
        yield f"not compared, not in the baseline {baseline.name}: {', '.join(new)}"
    for dataset in (dataset for dataset in measured if dataset in known):
        compared = {_counterpart(known[dataset], model) for model in measured[dataset]}
        if left := [model for model in known[dataset] if model not in compared]:
            where = f"on {dataset} only in the baseline {baseline.name}"
            yield f"not compared, {where}: {', '.join(left)}"


def _compare(
    baseline: SavedRun, run: SavedRun, dataset: str, models: tuple[str, str], allowed: Allowed
) -> GateResult:
    paired = allowed.significance is not None
    before = baseline.result(models[0], dataset, details=paired)
    after = run.result(models[1], dataset, details=paired)
    gate = f"{dataset}>={_limit(allowed)}"
    if before is None or after is None or not (shared := shared_metrics(before, after)):
        return GateResult(gate, models[1], "failed", "there is no score that both runs have")
    metric = shared[0]
    value, n = after.metrics[metric], after.samples_of(metric)
    try:
        reached, how = _judge(before, after, metric, allowed)
    except DataError as error:
        reached, how = False, f"but the runs can't be compared: {error}"
    for result, whose in ((before, "the baseline is "), (after, "")):
        if why := incomplete(result):
            reached, how = False, f"{how}, but {whose}incomplete: {why}"
    if before.version != after.version:
        how += f"; its prompts differ (version {before.version}, now {after.version})"
    message = f"{metric} is {value:.2f} (n = {n}), {before.metrics[metric]:.2f} in {baseline.name}"
    return GateResult(
        gate, models[1], "passed" if reached else "failed", f"{message}: {how}", value, n
    )


def _limit(allowed: Allowed) -> str:
    if allowed.significance is not None:
        return f"baseline, p<{allowed.significance:g}"
    return f"baseline-{allowed.drop:g}" if allowed.drop else "baseline"


def _judge(
    before: ResultFile, after: ResultFile, metric: str, allowed: Allowed
) -> tuple[bool, str]:
    if allowed.significance is None:
        change = after.metrics[metric] - before.metrics[metric]
        # rounding of a mean is no drop
        reached = change >= -allowed.drop or math.isclose(change, -allowed.drop, abs_tol=1e-9)
        return reached, f"{change:+.2f}"
    found = compare_results(before, after, metric)
    if found.difference is None or found.p_value is None:
        return False, "but its significance can't be tested"
    reached = found.difference >= 0 or found.p_value >= allowed.significance
    return reached, (
        f"{found.difference:+.2f} over {found.num_pairs} samples of both, "
        f"{found.test} p = {found.p_value:.2g}"
    )
