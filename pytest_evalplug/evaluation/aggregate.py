"""From per-sample scores, or a whole set, to metrics on their own scales."""

from __future__ import annotations

__all__ = ["mean_scores", "set_scores", "standard_error"]

from collections.abc import Callable, Mapping, Sequence
from math import sqrt
from statistics import fmean, stdev
from typing import Any

from pytest_evalplug.errors import EvalplugError
from pytest_evalplug.evaluation.base import BaseEvaluator
from pytest_evalplug.evaluation.columns import to_columns, with_derived
from pytest_evalplug.evaluation.outcome import is_number
from pytest_evalplug.types import AggScore, Detail, SampleScore


def mean_scores(scores: Sequence[SampleScore], scale_for: Callable[[str], float]) -> list[AggScore]:
    """Return each metric's mean over the samples that have it, times its scale.

    ``metadata["stderr"]`` is on the same scale, and missing where fewer than two independent
    samples leave it undefined.
    """
    metrics = dict.fromkeys(name for s in scores for name in s.score.value)
    return [_mean_score(metric, scores, scale_for(metric)) for metric in metrics]


def _mean_score(metric: str, scores: Sequence[SampleScore], scale: float) -> AggScore:
    having = [s for s in scores if metric in s.score.value]
    values = [s.score.value[metric] for s in having]
    error = standard_error(values, [s.group_id or s.sample_id for s in having])
    metadata = None if error is None else {"stderr": scale * error}
    return AggScore(metric, scale * fmean(values), "", len(values), metadata=metadata)


def standard_error(values: Sequence[float], groups: Sequence[Any]) -> float | None:
    """Return the standard error of the mean of ``values``, ``None`` where it is undefined.

    Repeats of one sample (equal entries of ``groups``) are not independent: their mean counts as
    one observation. That is exact where all samples have equally many repeats.
    """
    by_group: dict[Any, list[float]] = {}
    for i, (value, group) in enumerate(zip(values, groups, strict=True)):
        by_group.setdefault(i if group is None else ("group", group), []).append(value)
    means = [fmean(group) for group in by_group.values()]
    return stdev(means) / sqrt(len(means)) if len(means) > 1 else None


def set_scores(
    evaluator: BaseEvaluator,
    pairs: Sequence[tuple[Detail, Mapping[str, Any]]],
    groups: Sequence[str],
    test_set: Sequence[Mapping[str, Any]] | None = None,
) -> list[AggScore]:
    """Return the metrics of ``evaluator.score`` on the set, means over repeated runs.

    Equal ``groups`` are predictions of one sample, and the r-th of each belongs to run r. What
    the Evaluator's ``details`` say of a sample is added to its Detail's metadata. Raises
    EvalplugError if the Evaluator reports an ``error``.
    """
    runs = [_score_run(evaluator, run, pairs, test_set) for run in _runs(groups)]
    return [
        AggScore(metric, fmean(r[metric] for r in runs), "", len(pairs), agg_method="set")
        for metric in runs[0]
        if all(is_number(r.get(metric)) for r in runs)
    ]


def _runs(groups: Sequence[str]) -> list[list[int]]:
    """Return the positions of each run's predictions."""
    seen: dict[str, int] = {}
    runs: list[list[int]] = []
    for i, group in enumerate(groups):
        run = seen[group] = seen.get(group, -1) + 1
        if run == len(runs):
            runs.append([])
        runs[run].append(i)
    return runs


def _score_run(
    evaluator: BaseEvaluator,
    run: Sequence[int],
    pairs: Sequence[tuple[Detail, Mapping[str, Any]]],
    test_set: Sequence[Mapping[str, Any]] | None,
) -> dict[str, Any]:
    details = [pairs[i][0] for i in run]
    columns: dict[str, Any] = {
        "origin_prompt": [None] * len(run),
        **to_columns([with_derived(pairs[i][1]) for i in run]),
        "predictions": [d.pred for d in details],
        "references": [d.answer for d in details],
    }
    if test_set is not None:
        columns["test_set"] = [test_set[i] for i in run]
    result = evaluator.evaluate_run(columns)
    if "error" in result:
        raise EvalplugError(str(result["error"]), where=type(evaluator).__name__)
    said = result.get("details")
    if isinstance(said, list) and len(said) == len(details):
        for detail, entry in zip(details, said, strict=True):
            detail.metadata = {**(detail.metadata or {}), **entry}
    return result
