"""From details and metrics to a result with its coverage and standard errors."""

from __future__ import annotations

__all__ = ["build_result"]

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pytest_evalplug.run.results import EXTRACT_RATE, ResultFile
from pytest_evalplug.summary.replies import Replies, extract_rate
from pytest_evalplug.types import AggScore, Detail


def build_result(
    scores: Sequence[AggScore],
    details: Sequence[Detail],
    records: Iterable[Mapping[str, Any]] = (),
    *,
    model: str,
    dataset: str,
    benchmark: str,
    subset: str,
    version: str,
    mode: str,
    num_skipped: int = 0,
    partial: bool = False,
    shard: str | None = None,
    repeats: int = 1,
    k: Sequence[int] = (),
    num_distinct: int = 0,
    num_rows: int = 0,
    error: str | None = None,
    keep_details: bool = True,
    with_extract_rate: bool = False,
    with_res_length: bool = False,
) -> ResultFile:
    """Return one dataset's result; ``details`` has every sample that was not skipped.

    ``records`` are their prediction records, read once. What the metrics' ``metadata`` has is kept:
    ``stderr``, ``interval``, ``if_errors_wrong``, whether a metric is ``listed``, and what is no
    number, in ``other``.
    """
    scored = [detail for detail in details if detail.error is None]
    errors = len(details) - len(scored)
    verdicts = [detail.correct for detail in scored if detail.correct is not None]
    metrics = {score.metric: score.value for score in scores}
    replies = Replies.of(records, lengths=with_res_length)
    rate = extract_rate(details) if with_extract_rate else None
    if rate is not None:
        metrics[EXTRACT_RATE] = rate
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
        shard=shard,
        metrics=metrics,
        stderr=_given(scores, "stderr"),
        intervals={
            s.metric: tuple(s.metadata["interval"])
            for s in scores
            if s.metadata and "interval" in s.metadata
        },
        if_errors_wrong=_given(scores, "if_errors_wrong"),
        unlisted=[s.metric for s in scores if not (s.metadata or {}).get("listed", True)],
        repeats=repeats,
        k=list(k),
        num_distinct=num_distinct,
        num_rows=num_rows,
        metric_samples={
            s.metric: s.num_samples
            for s in scores
            if s.agg_method == "repeats" or s.num_samples != len(scored)
        },
        num_replies=replies.num_replies,
        num_truncated=replies.num_truncated,
        num_fewer_shots=replies.num_fewer_shots,
        num_imported=replies.num_imported,
        num_with_usage=replies.num_with_usage,
        usage=replies.usage._asdict(),
        res_length=replies.length_stats() if with_res_length else None,
        error=error,
        other={n: v for s in scores for n, v in (s.metadata or {}).get("other", {}).items()},
        details=list(details) if keep_details else None,
    )


def _given(scores: Sequence[AggScore], name: str) -> dict[str, float]:
    """Return metric -> a number that scoring left in the metric's metadata."""
    found = {score.metric: (score.metadata or {}).get(name) for score in scores}
    return {metric: float(value) for metric, value in found.items() if value is not None}
