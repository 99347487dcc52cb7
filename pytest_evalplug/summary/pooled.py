"""The subsets of a benchmark taken together, sample by sample."""

from __future__ import annotations

__all__ = ["WEIGHTED", "pooled"]

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from pytest_evalplug.run.results import ResultFile
from pytest_evalplug.summary.comparison import cluster_in, reader_of

WEIGHTED = "weighted_average"
"""A metric's mean over all samples: of the subsets' means, weighted by their samples."""


def pooled(results: Sequence[ResultFile], metric: str) -> ResultFile | None:
    """Return results on subsets of one benchmark as one, with :data:`WEIGHTED` of ``metric``.

    None where it is no mean over samples, or not on one scale, in all of them.
    """
    readers = [reader_of(r, metric) if metric in r.metrics else None for r in results]
    scales = {reader.scale for reader in readers if reader}
    if None in readers or len(scales) != 1:
        return None
    details = []
    for result, reader in zip(results, readers, strict=True):
        assert reader is not None
        for detail in result.details or ():
            value = None if detail.error else reader.value(detail)
            cluster = f"{result.dataset} {cluster_in(result, detail)}"  # their rows are not ours
            details.append(
                replace(
                    detail,
                    index=f"{result.dataset} {detail.index}",
                    score={} if value is None else {WEIGHTED: value},
                    metadata={"context_id": cluster},
                )
            )
    values = [detail.score[WEIGHTED] for detail in details if detail.score]
    return replace(
        results[0],
        dataset=results[0].benchmark,
        metrics={WEIGHTED: scales.pop() * fmean(values)},
        metric_samples={},
        num_scored=len(values),
        repeats=1,
        details=details,
    )
