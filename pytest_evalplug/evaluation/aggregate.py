"""From per-sample scores, or a whole set, to metrics on their own scales."""

from __future__ import annotations

__all__ = ["mean_scores", "repeat_scores", "set_scores"]

from collections.abc import Callable, Mapping, Sequence
from math import fsum, inf, isclose
from statistics import fmean
from typing import Any

from pytest_evalplug.errors import EvalplugError
from pytest_evalplug.evaluation.base import BaseEvaluator
from pytest_evalplug.evaluation.columns import TestSet, to_columns, with_derived
from pytest_evalplug.evaluation.outcome import BINARY, is_number, verdict_of
from pytest_evalplug.evaluation.repeats import is_listed, vote_metrics
from pytest_evalplug.evaluation.statistics import cluster_of, mean_interval, standard_error
from pytest_evalplug.types import AggScore, Detail


def mean_scores(
    scores: Sequence[Mapping[str, float]],
    groups: Sequence[Any],
    scale_for: Callable[[str], float],
) -> list[AggScore]:
    """Return each metric's mean over the samples that have it, times its scale.

    ``scores`` is metric -> value of each sample; equal ``groups`` are one cluster, as in
    :mod:`~pytest_evalplug.evaluation.statistics`. ``metadata`` has ``stderr`` and ``interval`` on
    the same scale, and lacks them where too few clusters leave them undefined.
    """
    metrics = dict.fromkeys(name for score in scores for name in score)
    return [_mean_score(metric, scores, groups, scale_for(metric)) for metric in metrics]


def _mean_score(
    metric: str, scores: Sequence[Mapping[str, float]], groups: Sequence[Any], scale: float
) -> AggScore:
    values = [score[metric] for score in scores if metric in score]
    having = [g for score, g in zip(scores, groups, strict=True) if metric in score]
    sure = _sureness(values, having, scale)
    return AggScore(metric, scale * fmean(values), "", len(values), metadata=sure or None)


def _sureness(values: Sequence[float], groups: Sequence[Any], scale: float) -> dict[str, Any]:
    """Return the mean's ``stderr`` and ``interval``, times ``scale``; without what is undefined."""
    known: dict[str, Any] = {}
    if (error := standard_error(values, groups)) is not None:
        known["stderr"] = scale * error
    is_share = scale == 100 and min(values) >= 0 and max(values) <= 1
    interval = mean_interval(values, groups, bounds=(0.0, 1.0) if is_share else (-inf, inf))
    if interval is not None:
        known["interval"] = (scale * interval[0], scale * interval[1])
    return known


def repeat_scores(
    details: Sequence[Detail], groups: Sequence[str], ks: Sequence[int], n: int
) -> list[AggScore]:
    """Return what ``n`` replies to each sample say: :func:`vote_metrics`' means, in percent.

    Equal ``groups`` are details of one sample. A sample with fewer than k measured replies (for
    maj@n: than n) is missing from the metrics of that k: ``num_samples`` is without it, while
    ``metadata["if_errors_wrong"]`` has its errors as wrong answers. Empty if nothing has a verdict.
    """
    by_sample: dict[str, list[Detail]] = {}
    for detail, group in zip(details, groups, strict=True):
        by_sample.setdefault(group, []).append(detail)
    if all(d.correct is None for d in details):
        return []
    samples = by_sample.values()
    measured = [vote_metrics(_votes(sample), ks, n) for sample in samples]
    with_errors = [vote_metrics(_votes(sample, errors=True), ks, n) for sample in samples]
    clusters = [cluster_of(group, _metadata(sample)) for group, sample in by_sample.items()]
    names = dict.fromkeys(name for values in measured for name in values)
    scores = [_percent(name, measured, clusters) for name in names]
    if any(d.error is not None for d in details):
        for score in scores:
            assert score.metadata is not None
            score.metadata["if_errors_wrong"] = _percent(score.metric, with_errors, clusters).value
    return scores


def _metadata(sample: Sequence[Detail]) -> Mapping[str, Any] | None:
    """Return what is known of a sample: an error's detail says nothing of it."""
    return next((d.metadata for d in sample if d.error is None), None)


def _votes(sample: Sequence[Detail], *, errors: bool = False) -> list[tuple[Any, bool]]:
    votes = [(d.pred, d.correct) for d in sample if d.error is None and d.correct is not None]
    return votes + [(None, False) for d in sample if errors and d.error is not None]


def _percent(
    name: str, by_sample: Sequence[Mapping[str, float]], clusters: Sequence[Any]
) -> AggScore:
    (score,) = mean_scores(
        [{name: values[name]} if name in values else {} for values in by_sample],
        clusters,
        lambda metric: 100.0,
    )
    score.agg_method = "repeats"
    score.metadata = {"listed": is_listed(name), **(score.metadata or {})}
    return score


def set_scores(
    evaluator: BaseEvaluator,
    pairs: Sequence[tuple[Detail, Mapping[str, Any]]],
    groups: Sequence[str],
    test_set: Sequence[Mapping[str, Any]] | None = None,
) -> list[AggScore]:
    """Return the metrics of ``evaluator.score`` on the set, means over repeated runs.

    Equal ``groups`` are predictions of one sample, and the r-th of each belongs to run r; runs
    that errors have left smaller weigh less. What the Evaluator's ``details`` say of a sample is
    added to its Detail's metadata, and their verdict is the Detail's if it has none. What ``score``
    returns beside numbers is in the first metric's ``metadata["other"]``.

    A metric that is just the share of right answers is a mean: it has a standard error and an
    interval; of any other number (BLEU over a corpus) neither is known. Raises EvalplugError if
    the Evaluator reports an ``error`` or no number, and for an empty set.
    """
    where = type(evaluator).__name__
    if not pairs:
        raise EvalplugError("there is no prediction to score", where=where)
    runs = _runs(groups)
    results = [_score_run(evaluator, run, pairs, test_set) for run in runs]
    names = [name for name in results[0] if all(is_number(r.get(name)) for r in results)]
    if not names:
        raise EvalplugError(
            "score() returned no number", where=where, fix="Return a dict of metric -> number."
        )
    details = [detail for detail, _ in pairs]
    scores = []
    for name in names:
        total = fsum(len(run) * r[name] for run, r in zip(runs, results, strict=True))
        scores.append(_set_score(name, total / len(pairs), details, groups))
    if other := _other(results):
        scores[0].metadata = {**(scores[0].metadata or {}), "other": other}
    return scores


def _set_score(
    name: str, value: float, details: Sequence[Detail], groups: Sequence[str]
) -> AggScore:
    verdicts = [d.correct for d in details if d.correct is not None]
    shares = [float(v) for v in verdicts]
    if name not in BINARY or len(shares) < len(details) or not isclose(value, 100 * fmean(shares)):
        return AggScore(name, value, "", len(details), agg_method="set")
    clusters = [cluster_of(g, d.metadata) for g, d in zip(groups, details, strict=True)]
    sure = _sureness(shares, clusters, 100.0)
    return AggScore(name, value, "", len(details), metadata=sure or None)


def _other(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what isn't a number: a single run's as it is, else the list of what the runs gave."""
    names = dict.fromkeys(
        name for r in results for name in r if name != "details" and not is_number(r[name])
    )
    values = {name: [r.get(name) for r in results] for name in names}
    return values if len(results) > 1 else {name: found[0] for name, found in values.items()}


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
    references = [d.answer for d in details]
    columns: dict[str, Any] = {
        "origin_prompt": [None] * len(run),
        **to_columns([with_derived(pairs[i][1]) for i in run]),
        "predictions": [d.pred for d in details],
        "references": None if all(r is None for r in references) else references,
    }
    if test_set is not None:
        columns["test_set"] = TestSet([test_set[i] for i in run])
    result = evaluator.evaluate_run(columns)
    if "error" in result:
        raise EvalplugError(str(result["error"]), where=type(evaluator).__name__)
    for detail, said in zip(details, result.get("details") or (), strict=False):
        rest = {name: value for name, value in said.items() if name != "correct"}
        detail.metadata = {**(detail.metadata or {}), **rest} or None
        if detail.correct is None:
            detail.correct = verdict_of(said)
    return result
