"""How sure a mean is: standard errors and 95 % confidence intervals.

Values that belong together (repeats of a sample, samples that share a context) are a cluster:
they say less than as many independent ones. Which those are is told by ``groups``: equal entries
are one cluster, and ``None`` stands alone.
"""

from __future__ import annotations

__all__ = [
    "Interval",
    "cluster_of",
    "cluster_sums",
    "mean_interval",
    "normal_interval",
    "standard_error",
    "t_quantile",
    "wilson_interval",
]

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from statistics import NormalDist, fmean
from typing import Any, TypeAlias

Interval: TypeAlias = tuple[float, float]

_Z = NormalDist().inv_cdf(0.975)


def cluster_of(index: str | None, metadata: Mapping[str, Any] | None) -> str | None:
    """Return what cluster a sample belongs to.

    That is its metadata's ``context_id``, which samples share that are about one passage, one
    image, one conversation; else its row in the data (``12`` of index ``12.1``), which the Samples
    made from one record share.
    """
    context = (metadata or {}).get("context_id")
    if context is not None:
        return f"context {context}"
    row = (index or "").partition(".")[0]
    return row if row.isdigit() else index


def standard_error(values: Sequence[float], groups: Sequence[Any] | None = None) -> float | None:
    """Return the standard error of the mean of ``values``, None where it is undefined.

    With g clusters it is the root of g / (g - 1) times the sum of the squared sums of the
    clusters' deviations, over n: the cluster-robust error of Liang and Zeger 1986 (Miller 2024,
    arXiv:2411.00640, equation 4, with the correction for few clusters). Clusters of one value each
    give the usual s / sqrt(n). Undefined for fewer than two clusters.
    """
    mean = fmean(values)
    sums = cluster_sums((value - mean for value in values), groups)
    if len(sums) < 2:
        return None
    square = math.fsum(s * s for s in sums) * len(sums) / (len(sums) - 1)
    return math.sqrt(square) / len(values)


def cluster_sums(values: Iterable[float], groups: Sequence[Any] | None) -> list[float]:
    """Return the sum of each cluster's values."""
    if groups is None or len(set(groups)) == len(groups):
        return list(values)
    sums: dict[Any, float] = {}
    for i, (value, group) in enumerate(zip(values, groups, strict=True)):
        key = i if group is None else ("group", group)
        sums[key] = sums.get(key, 0.0) + value
    return list(sums.values())


def mean_interval(
    values: Sequence[float],
    groups: Sequence[Any] | None = None,
    *,
    bounds: Interval = (-math.inf, math.inf),
) -> Interval | None:
    """Return the 95 % interval of the mean of ``values``, None where it is undefined.

    Values that are all 0 or 1 and independent have Wilson's; others have t times the standard
    error, t with one degree of freedom less than there are clusters, inside ``bounds``. Where
    clusters of values from 0 to 1 do not differ, a standard error of 0 would make a point of it:
    they have Wilson's of as many independent values as there are clusters.
    """
    clusters = len(cluster_sums(values, groups))
    if clusters == len(values) > 0 and set(values) <= {0, 1}:
        return wilson_interval(sum(values), len(values))
    error = standard_error(values, groups)
    if error is None:
        return None
    if error == 0 and bounds == (0, 1):
        return wilson_interval(clusters * fmean(values), clusters)
    return normal_interval(fmean(values), error, df=clusters - 1, bounds=bounds)


def normal_interval(
    value: float,
    stderr: float,
    *,
    df: int | None = None,
    bounds: Interval = (-math.inf, math.inf),
) -> Interval:
    """Return ``value`` plus and minus 1.96 standard errors, inside ``bounds``.

    With ``df`` degrees of freedom, the standard error being estimated from few values, Student's
    quantile stands in the place of 1.96.
    """
    half = (_Z if df is None else t_quantile(df)) * stderr
    return max(value - half, bounds[0]), min(value + half, bounds[1])


def wilson_interval(right: float, n: float) -> Interval:
    """Return Wilson's 95 % score interval (1927) of a share, ``right`` of ``n``, 0-1.

    It stays within 0 and 1 and is no point where all are right or none is.
    """
    share, square = right / n, _Z * _Z
    centre = (share + square / (2 * n)) / (1 + square / n)
    half = _Z / (1 + square / n) * math.sqrt(share * (1 - share) / n + square / (4 * n * n))
    return max(centre - half, 0.0), min(centre + half, 1.0)


@lru_cache(maxsize=1024)
def t_quantile(df: int) -> float:
    """Return the 97.5 % quantile of Student's t with ``df`` degrees of freedom.

    Abramowitz and Stegun 1964, 26.7.3 and 26.7.4, solved by bisection; above 1000 degrees the
    first term of 26.7.5, which is right to five decimals there.
    """
    if df > 1000:
        return _Z + (_Z**3 + _Z) / (4 * df)
    low, high = 0.0, math.pi / 2
    for _ in range(53):
        theta = (low + high) / 2
        low, high = (theta, high) if _t_central(theta, df) < 0.95 else (low, theta)
    return math.sqrt(df) * math.tan(low)


def _t_central(theta: float, df: int) -> float:
    """Return the chance that t is within plus and minus sqrt(df) tan(theta)."""
    cosine, odd = math.cos(theta), df % 2
    term, total = cosine if odd else 1.0, 0.0
    for power in range(1 + odd, df, 2):
        total += term
        term *= cosine * cosine * power / (power + 1)
    if odd:
        return 2 / math.pi * (theta + math.sin(theta) * total)
    return math.sin(theta) * total
