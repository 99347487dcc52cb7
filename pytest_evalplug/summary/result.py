"""From details and metrics to a result with its coverage and standard errors."""

from __future__ import annotations

__all__ = ["build_result"]

from collections.abc import Sequence

from pytest_evalplug.run.results import ResultFile
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

    A metric's standard error, and its value with errors counted as wrong, are taken from its
    ``metadata``: ``stderr`` and ``if_errors_wrong``.
    """
    scored = [detail for detail in details if detail.error is None]
    errors = len(details) - len(scored)
    verdicts = [detail.correct for detail in scored if detail.correct is not None]
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
        metrics={score.metric: score.value for score in scores},
        stderr=_given(scores, "stderr"),
        if_errors_wrong=_given(scores, "if_errors_wrong"),
        details=[detail.to_wire() for detail in details] if keep_details else None,
    )


def _given(scores: Sequence[AggScore], name: str) -> dict[str, float]:
    """Return metric -> a number that scoring left in the metric's metadata."""
    found = {score.metric: (score.metadata or {}).get(name) for score in scores}
    return {metric: float(value) for metric, value in found.items() if value is not None}
