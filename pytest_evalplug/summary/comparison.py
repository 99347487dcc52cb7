"""Two results on one dataset, sample by sample."""

from __future__ import annotations

__all__ = [
    "Difference",
    "Pair",
    "Reader",
    "cluster_in",
    "compare_results",
    "metric_pairs",
    "reader_of",
    "shared_metrics",
]

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from statistics import fmean
from typing import NamedTuple, TypeAlias

from pytest_evalplug.dataset.ids import base_index
from pytest_evalplug.errors import DataError
from pytest_evalplug.evaluation.outcome import BINARY, scale_of
from pytest_evalplug.evaluation.paired import bootstrap_p, matched_interval, mcnemar_p
from pytest_evalplug.evaluation.statistics import (
    Interval,
    cluster_of,
    cluster_sums,
    normal_interval,
    standard_error,
)
from pytest_evalplug.run.results import EXTRACT_RATE, ResultFile
from pytest_evalplug.summary.rows import metrics_in_order
from pytest_evalplug.types import Detail

_Details: TypeAlias = Mapping[tuple[str, int], Detail]


class Pair(NamedTuple):
    """One sample's details in both results."""

    old: Detail
    new: Detail


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """How one metric differs, new minus old; everything is on the metric's own scale.

    ``old_metric`` is what ``metric`` is called in the old result, ``old`` and ``new`` are its
    values over the ``old_n`` and ``new_n`` samples that each result has scored. ``difference``, its
    standard error and its 95 % ``interval`` are over the ``num_pairs`` samples that both have;
    ``p_value`` is the two-sided one of ``test``. They are None where the metric is no mean over
    samples (BLEU of a corpus), or where too few pairs leave them undefined.

    ``gained`` went from wrong to right, ``lost`` from right to wrong: by the metric, or where it
    is none of right and wrong, by the sample's verdict. ``only_old`` and ``only_new``
    count the samples that the other result does not have at all, ``old_errors`` and ``new_errors``
    those it has, but not measured in this one.
    """

    metric: str
    old_metric: str
    old: float
    new: float
    old_n: int
    new_n: int
    num_pairs: int
    difference: float | None = None
    stderr: float | None = None
    interval: Interval | None = None
    p_value: float | None = None
    test: str | None = None
    gained: Sequence[Pair] = ()
    lost: Sequence[Pair] = ()
    only_old: int = 0
    only_new: int = 0
    old_errors: int = 0
    new_errors: int = 0


def shared_metrics(old: ResultFile, new: ResultFile) -> list[str]:
    """Return the metrics that both results have in their tables, the first one first."""
    theirs = metrics_in_order(old)
    return [m for m in metrics_in_order(new) if m in theirs and m != EXTRACT_RATE]


def metric_pairs(old: ResultFile, new: ResultFile) -> list[tuple[str, str]]:
    """Return the metrics that can be compared, as they are called in the old and the new result.

    Where no name is shared, as between tools, that is what each calls right or wrong, if it does.
    """
    if shared := shared_metrics(old, new):
        return [(metric, metric) for metric in shared]
    binary = [
        next((m for m in metrics_in_order(result) if m.partition(",")[0] in BINARY), None)
        for result in (old, new)
    ]
    return [(binary[0], binary[1])] if binary[0] and binary[1] else []


def compare_results(
    old: ResultFile, new: ResultFile, metric: str | None = None, *, old_metric: str | None = None
) -> Difference:
    """Return how ``metric``, or the first of :func:`metric_pairs`, differs between two results.

    A sample is the same in both if it has the same id, or where they have no id in common (other
    tools name samples otherwise) the same index. Right and wrong of independent samples are
    compared with McNemar's test, everything else with the paired bootstrap over clusters.

    Raises DataError if a result was written without details, or lacks the metric.
    """
    first = next(iter(metric_pairs(old, new)), (None, None))
    before, name = (old_metric or metric, metric) if metric else first
    if before is None or name is None:
        raise DataError("the results have no metric in common", where=old.dataset)
    for result, needed in ((old, before), (new, name)):
        if needed not in result.metrics:
            raise DataError(f"{result.model} has no {needed}", where=result.dataset)
    ours, theirs = _by_sample(old, new)
    both = [Pair(detail, theirs[key]) for key, detail in ours.items() if key in theirs]
    reader = reader_of(old, before), reader_of(new, name)
    pairs = [p for p in both if _measured(p.old, reader[0]) and _measured(p.new, reader[1])]
    changes = list(zip(pairs, _verdicts(pairs, reader), strict=True))
    return Difference(
        metric=name,
        old_metric=before,
        old=old.metrics[before],
        new=new.metrics[name],
        old_n=old.samples_of(before),
        new_n=new.samples_of(name),
        num_pairs=len(pairs),
        gained=[pair for pair, change in changes if change == (False, True)],
        lost=[pair for pair, change in changes if change == (True, False)],
        only_old=len(ours) - len(both),
        only_new=len(theirs) - len(both),
        old_errors=sum(not _measured(pair.old, reader[0]) for pair in both),
        new_errors=sum(not _measured(pair.new, reader[1]) for pair in both),
        **_paired(pairs, reader, [cluster_in(old, pair.old) for pair in pairs])._asdict(),
    )


class Reader(NamedTuple):
    """Where a sample's value of a metric stands, 0-1, and what makes the metric of their mean."""

    scale: float
    metric: str | None
    """None: it is the verdict."""

    def value(self, detail: Detail) -> float | None:
        """Return a measured sample's value, None if it has none."""
        if self.metric is not None:
            return detail.score.get(self.metric)
        return None if detail.correct is None else float(detail.correct)


def reader_of(result: ResultFile, metric: str) -> Reader | None:
    """Return how to read a metric that is a mean over the details; None if it is not."""
    scored = [detail for detail in result.details or () if detail.error is None]
    for scale in (scale_of(metric), 1.0, 100.0):
        for reader in (Reader(scale, metric), Reader(scale, None)):
            values = [v for detail in scored if (v := reader.value(detail)) is not None]
            if not values or len(values) != result.samples_of(metric):
                continue  # pass@k is over samples, not over replies
            if isclose(scale * fmean(values), result.metrics[metric], abs_tol=1e-9):
                return reader
    return None


def _measured(detail: Detail, reader: Reader | None) -> bool:
    return detail.error is None and (reader is None or reader.value(detail) is not None)


def _by_sample(old: ResultFile, new: ResultFile) -> tuple[_Details, _Details]:
    """Return both results' details under names that are the same for the same sample."""
    for result in (old, new):
        if result.details is None:
            raise DataError(
                f"the results of {result.model} were written without details",
                where=result.dataset,
                fix="Score them again with --reuse --mode eval",
            )
    ours, theirs = (_named(d.sample_id for d in r.details or ()) for r in (old, new))
    if not set(ours) & set(theirs):
        ours, theirs = (_named(d.index for d in r.details or ()) for r in (old, new))
    return (
        dict(zip(ours, old.details or (), strict=True)),
        dict(zip(theirs, new.details or (), strict=True)),
    )


def _named(names: Iterable[str]) -> list[tuple[str, int]]:
    """Return each name with how often it came before: a sample's repeats share its id."""
    seen: dict[str, int] = {}
    found = []
    for name in names:
        seen[name] = seen.get(name, -1) + 1
        found.append((name, seen[name]))
    return found


def cluster_in(result: ResultFile, detail: Detail) -> str | None:
    """Return the cluster that one of a result's details belongs to."""
    rows = result.num_rows if result.repeats > 1 else 0
    return cluster_of(base_index(detail.index, rows) if rows else detail.index, detail.metadata)


def _verdicts(
    pairs: Sequence[Pair], readers: tuple[Reader | None, Reader | None]
) -> list[tuple[bool | None, bool | None]]:
    """Return whether each pair's old and new is right: by the metric, if it is 0 or 1 in all."""
    old, new = readers
    if old is not None and new is not None:
        values = [(old.value(pair.old), new.value(pair.new)) for pair in pairs]
        if all(value in (0, 1) for both in values for value in both):
            return [(before == 1, after == 1) for before, after in values]
    return [(pair.old.correct, pair.new.correct) for pair in pairs]


class _Paired(NamedTuple):
    difference: float | None = None
    stderr: float | None = None
    interval: Interval | None = None
    p_value: float | None = None
    test: str | None = None


def _paired(
    pairs: Sequence[Pair],
    readers: tuple[Reader | None, Reader | None],
    clusters: Sequence[str | None],
) -> _Paired:
    """Return the difference over pairs that are measured in both, and how sure it is."""
    old, new = readers
    if old is None or new is None or not pairs:
        return _Paired()
    before = [old.value(pair.old) or 0.0 for pair in pairs]
    after = [new.value(pair.new) or 0.0 for pair in pairs]
    if old.scale == new.scale and {*before, *after} <= {0, 1} and _independent(clusters):
        return _right_or_wrong(before, after, old.scale)
    differences = [new.scale * b - old.scale * a for a, b in zip(before, after, strict=True)]
    mean, error = fmean(differences), standard_error(differences, clusters)
    if error is None:
        return _Paired(mean)
    sums = cluster_sums(differences, clusters)
    interval = normal_interval(mean, error, df=len(sums) - 1)
    return _Paired(mean, error, interval, bootstrap_p(sums), "bootstrap")


def _independent(clusters: Sequence[str | None]) -> bool:
    return len(set(clusters)) == len(clusters)


def _right_or_wrong(before: Sequence[float], after: Sequence[float], scale: float) -> _Paired:
    differences = [b - a for a, b in zip(before, after, strict=True)]
    gained, lost = differences.count(1), differences.count(-1)
    low, high = matched_interval(gained, lost, len(differences))
    error = standard_error(differences)
    return _Paired(
        scale * fmean(differences),
        None if error is None else scale * error,
        (scale * low, scale * high),
        mcnemar_p(gained, lost),
        "McNemar",
    )
