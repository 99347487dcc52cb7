"""How sure a mean is."""

from __future__ import annotations

__all__ = ["standard_error"]

import math
from collections import defaultdict
from collections.abc import Sequence


def standard_error(values: Sequence[float], groups: Sequence[str]) -> float | None:
    """Return the standard error of the mean of ``values``, or None for fewer than two groups.

    Values of one group (the repeats of a sample) are not independent: their deviations are summed
    before they are squared (cluster-robust; Miller 2024, "Adding Error Bars to Evals",
    arXiv:2411.00640), with Bessel's correction. With one value a group this is s / sqrt(n).
    """
    mean = sum(values) / len(values) if values else 0.0
    sums: dict[str, float] = defaultdict(float)
    for value, group in zip(values, groups, strict=True):
        sums[group] += value - mean
    count = len(sums)
    if count < 2:
        return None
    squares = math.fsum(total * total for total in sums.values())
    return math.sqrt(squares * count / (count - 1)) / len(values)
