"""From details and metrics to a result with its coverage and standard errors."""

from __future__ import annotations

__all__ = ["build_result"]

from collections.abc import Sequence

from pytest_evalplug.run.results import ResultFile
from pytest_evalplug.summary.statistics import standard_error
from pytest_evalplug.types import AggScore, Detail


def build_result(
    scores: Sequence[AggScore],
    details: Sequence[Detail],
    *,
    model: str,
    dataset: str,
    benchmark: str,
    subset: str,
    version: str,
    mode: str,
    num_skipped: int = 0,
    partial: bool = False,
    keep_details: bool = True,
) -> ResultFile:
    """Return one dataset's result; ``details`` has every sample that was not skipped.

    Where a metric is the mean of the samples' scores, times its scale, its standard error and its
    value with errors counted as 0 follow from the details. ``AggScore.metadata`` may give them
    as ``stderr`` and ``if_errors_wrong`` instead.
    """
    scored = [detail for detail in details if detail.error is None]
    errors = len(details) - len(scored)
    verdicts = [detail.correct for detail in scored if detail.correct is not None]
    metrics = {score.metric: score.value for score in scores}
    stderr = {s.metric: x for s in scores if (x := _stderr(s, scored)) is not None}
    wrong = {s.metric: x for s in scores if (x := _if_wrong(s, scored, errors)) is not None}
    return ResultFile(
        model=model,
        dataset=dataset,
        benchmark=benchmark,
        subset=subset,
        version=version,
        mode=mode,
        num_samples=len(details) + num_skipped,
        num_scored=len(scored),
        num_errors=errors,
        num_skipped=num_skipped,
        num_correct=sum(verdicts) if verdicts else None,
        partial=partial,
        metrics=metrics,
        stderr=stderr,
        if_errors_wrong=wrong,
        details=[detail.to_wire() for detail in details] if keep_details else None,
    )


def _stderr(score: AggScore, scored: Sequence[Detail]) -> float | None:
    given = (score.metadata or {}).get("stderr")
    if given is not None:
        return float(given)
    values = _values(score, scored)
    error = standard_error(values, [d.sample_id for d in scored]) if values else None
    mean = sum(values) / len(values) if values else 0.0
    # the metric is the mean times an unknown scale, so the error is in the same proportion
    return error and error * score.value / mean


def _if_wrong(score: AggScore, scored: Sequence[Detail], errors: int) -> float | None:
    given = (score.metadata or {}).get("if_errors_wrong")
    if given is not None:
        return float(given)
    if not errors or not _values(score, scored):
        return None
    return score.value * len(scored) / (len(scored) + errors)


def _values(score: AggScore, scored: Sequence[Detail]) -> list[float]:
    """Return the samples' scores that the metric is the mean of; empty if it isn't their mean."""
    if score.agg_method != "mean" or any(score.metric not in d.score for d in scored):
        return []
    return [d.score[score.metric] for d in scored]
