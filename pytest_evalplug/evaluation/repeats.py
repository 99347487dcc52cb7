"""What several replies to the same sample say: pass@k, G-Pass@k, majority vote.

A sample's votes are pairs of pred and verdict, one a measured reply. All estimates are exact:
whole numbers up to the last division.
"""

from __future__ import annotations

__all__ = [
    "THRESHOLDS",
    "average_runs",
    "g_pass_at_k",
    "is_listed",
    "majority_vote",
    "mg_pass_at_k",
    "pass_at_k",
    "vote_metrics",
]

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from math import ceil, comb
from statistics import fmean
from typing import Any, TypeAlias

from pytest_evalplug.evaluation.outcome import is_empty, is_number, verdict_of
from pytest_evalplug.run.jsonio import dumps

Votes: TypeAlias = Sequence[tuple[Any, bool]]

THRESHOLDS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Which shares of k replies G-Pass@k is reported for."""
_STRICT = "G-Pass@"


def pass_at_k(n: int, c: int, k: int) -> float | None:
    """Return the chance that one of ``k`` of ``n`` replies is right, ``c`` of the n being right.

    The unbiased estimate of Chen et al. 2021 (arXiv:2107.03374), 1 - C(n-c, k) / C(n, k). None
    where it is undefined: ``k > n`` or counts that can't be.
    """
    if not _possible(n, c, k):
        return None
    few, many = sorted((c, k))  # C(n-c, k) / C(n, k) is the same with c and k exchanged
    if few * many > 40 * n:
        return 1.0  # no draw of k is all wrong but with less than e**-40, which 1.0 can't show
    every = comb(n, few)
    return (every - comb(n - many, few)) / every


@lru_cache(maxsize=4096)
def g_pass_at_k(n: int, c: int, k: int, threshold: float) -> float | None:
    """Return the chance that at least ``threshold`` (0-1) of ``k`` of ``n`` replies are right.

    G-Pass@k of Liu et al. 2024 (arXiv:2412.13147): the hypergeometric chance of ``threshold * k``
    right ones, rounded up, and at least one; at 0 it is pass@k, at 1 all k are right. None where
    it is undefined, as in :func:`pass_at_k`.
    """
    # as written: 0.7 is 7/10 here, so that 0.7 of 10 is 7 and not a little more
    return _at_least(n, c, k, max(ceil(k * Fraction(str(threshold))), 1))


@lru_cache(maxsize=4096)
def mg_pass_at_k(n: int, c: int, k: int) -> float | None:
    """Return the mean of G-Pass@k over thresholds from 0.5 to 1, as the same paper sums it up.

    That is 2/k times the sum of G-Pass@k at i/k for i from ceil(k/2) + 1 to k. None where it is
    undefined, and for ``k = 1``, which leaves nothing to sum.
    """
    if k < 2 or not _possible(n, c, k):
        return None
    return 2 / k * sum(_at_least(n, c, k, i) or 0.0 for i in range(ceil(k / 2) + 1, k + 1))


def _possible(n: int, c: int, k: int) -> bool:
    return 0 <= c <= n and 1 <= k <= n


def _at_least(n: int, c: int, k: int, least: int) -> float | None:
    if not _possible(n, c, k):
        return None
    return sum(comb(c, j) * comb(n - c, k - j) for j in range(least, min(c, k) + 1)) / comb(n, k)


def majority_vote(votes: Votes) -> float:
    """Return whether the most frequent pred is right, 0-1.

    Preds are the same vote if they are the same value after postprocessing; an empty one (no
    answer found) has no vote, and without any vote the answer is wrong. Where several preds have
    the most votes, the result is their mean: what a fair draw among them gives on average, so
    that the order of the replies doesn't matter.
    """
    by_pred: dict[str, list[bool]] = {}
    for pred, correct in votes:
        if not is_empty(pred):
            by_pred.setdefault(dumps(pred), []).append(correct)
    most = max(map(len, by_pred.values()), default=0)
    return fmean([fmean(v) for v in by_pred.values() if len(v) == most] or [0.0])


def vote_metrics(votes: Votes, ks: Sequence[int], n: int) -> dict[str, float]:
    """Return one sample's ``pass@k``, ``mG-Pass@k``, ``G-Pass@k_<threshold>`` and ``maj@n``, 0-1.

    ``n`` is how often the sample was asked. What its measured replies leave undefined is missing:
    the metrics of a k that is larger than their number, and maj@n where one of n was not measured.
    """
    measured, right = len(votes), sum(correct for _, correct in votes)
    values: dict[str, float | None] = {}
    for k in ks:
        values[f"pass@{k}"] = pass_at_k(measured, right, k)
        values[f"mG-Pass@{k}"] = mg_pass_at_k(measured, right, k)
        for threshold in THRESHOLDS:
            name = f"{_STRICT}{k}_{threshold}"
            values[name] = g_pass_at_k(measured, right, k, threshold)
    values[f"maj@{n}"] = majority_vote(votes) if measured == n else None
    return {name: value for name, value in values.items() if value is not None}


def is_listed(metric: str) -> bool:
    """Tell whether one of :func:`vote_metrics` is for a table; G-Pass@k is a curve, for files."""
    return not metric.startswith(_STRICT)


def average_runs(
    results: Sequence[Mapping[str, Any]], ks: Sequence[int], rows: Sequence[Any] | None = None
) -> dict[str, Any]:
    """Return what ``n`` results of ``score`` on one set come to, in OpenCompass's form.

    Each metric's mean is called ``<metric> (n runs average)``; what is no number becomes the list
    of what the runs gave. If all runs have ``details``, there is one for each sample, holding a
    list of n values for each key, the sample's :func:`vote_metrics` if any has a verdict (their
    means stand beside the other metrics, in percent) and, where ``rows`` of the dataset have
    ``subdivision`` and ``idx``, an ``example_abbr`` of them. An ``error`` of a run is the result.
    """
    n = len(results)
    for number, result in enumerate(results, 1):
        if "error" in result:
            return {"error": f"run {number} of {n}: {result['error']}"}
    merged: dict[str, Any] = {}
    for name in dict.fromkeys(name for result in results for name in result if name != "details"):
        values = [result.get(name) for result in results]
        if all(map(is_number, values)):
            merged[f"{name} ({n} runs average)"] = fmean(values)  # type: ignore[arg-type]
        else:
            merged[name] = values
    if not all(result.get("details") for result in results):
        return merged
    grouped = list(zip(*(result["details"] for result in results), strict=True))
    votes = [
        [(d.get("pred"), v) for d in runs if (v := verdict_of(d)) is not None] for runs in grouped
    ]
    by_sample = [vote_metrics(v, ks, n) if any(votes) else {} for v in votes]
    for name in dict.fromkeys(name for values in by_sample for name in values):
        merged[name] = 100 * fmean(values[name] for values in by_sample if name in values)
    merged["details"] = [
        {**_label(rows, i), **_in_lists(runs), **values}
        for i, (runs, values) in enumerate(zip(grouped, by_sample, strict=True))
    ]
    return merged


def _in_lists(runs: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    names = dict.fromkeys(name for run in runs for name in run)
    return {name: [run.get(name) for run in runs] for name in names}


def _label(rows: Sequence[Any] | None, i: int) -> dict[str, str]:
    row = rows[i] if rows is not None else None
    if not isinstance(row, Mapping) or not {"subdivision", "idx"} <= set(row):
        return {}
    return {"example_abbr": f"{row['subdivision']}_{row['idx']}"}
