"""Two results of the same samples: is one better, or is it chance?"""

from __future__ import annotations

__all__ = ["RESAMPLES", "bootstrap_p", "holm", "matched_interval", "mcnemar_p"]

import math
import random
from collections.abc import Iterable, Sequence
from statistics import NormalDist

from pytest_evalplug.evaluation.statistics import Interval

RESAMPLES = 2000
"""How many times :func:`bootstrap_p` draws."""
_Z = NormalDist().inv_cdf(0.975)
_BLOCK = 4  # differences whose signs are drawn together; larger tables leave the caches
_LOW_BITS = bytes(byte % 2**_BLOCK for byte in range(256))


def mcnemar_p(gained: int, lost: int) -> float:
    """Return the two-sided p-value of McNemar's test (1947), exact for any counts.

    ``gained`` samples went from wrong to right, ``lost`` from right to wrong: under the null
    hypothesis each is as likely, so that the smaller one is binomial.
    """
    n = gained + lost
    term = total = 1
    for k in range(min(gained, lost)):
        term = term * (n - k) // (k + 1)
        total += term
    return min(1.0, 2 * total / (1 << n))


def matched_interval(gained: int, lost: int, n: int) -> Interval:
    """Return the 95 % interval of the difference of two shares of the same ``n`` samples, -1 to 1.

    Agresti and Min 2005 (Statistics in Medicine 24): Wald's after half a sample more in each of
    the four cells, so that it is no point where nothing was gained or lost.
    """
    more = n + 2
    difference = (gained - lost) / more
    half = _Z * math.sqrt((gained + lost + 1) / more - difference**2) / math.sqrt(more)
    return max(difference - half, -1.0), min(difference + half, 1.0)


def bootstrap_p(differences: Iterable[float], *, seed: int = 0) -> float:
    """Return the two-sided p-value of a sum of independent ``differences``, new minus old.

    The wild bootstrap with the null hypothesis imposed (Liu 1988; Cameron, Gelbach and Miller
    2008): every difference keeps its size and gets a random sign, :data:`RESAMPLES` times. That is
    as well the paired permutation test, whose exact form for right and wrong is McNemar's.
    Differences within a cluster are to be summed up before.
    """
    sizes = [difference for difference in differences if difference]
    tables = [_signed_sums(sizes[i : i + _BLOCK]) for i in range(0, len(sizes), _BLOCK)]
    least = abs(math.fsum(sizes)) * (1 - 1e-9)  # sums in another order are equal all the same
    rng = random.Random(seed)
    as_far = 0
    for _ in range(RESAMPLES):
        signs = rng.randbytes(len(tables)).translate(_LOW_BITS)
        as_far += abs(sum(map(list.__getitem__, tables, signs))) >= least
    return (as_far + 1) / (RESAMPLES + 1)


def _signed_sums(sizes: Sequence[float]) -> list[float]:
    """Return the sums of up to four values under each of 16 choices of signs."""
    sums = [0.0]
    for size in [*sizes, *[0.0] * (_BLOCK - len(sizes))]:
        sums = [total + size for total in sums] + [total - size for total in sums]
    return sums


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p-values adjusted for their number, in their order (Holm 1979).

    Those at most 0.05 are together right with a chance of 95 %, however they depend on each other.
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted, highest = [0.0] * len(p_values), 0.0
    for rank, i in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[i]))
        adjusted[i] = highest
    return adjusted
