"""Write statistics.json: what scipy and statsmodels say, for test_statistics.py.

Run with both installed: ``python tests/evaluation/make_statistics.py``. Seen with scipy 1.17 and
statsmodels 0.15.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import statsmodels.api as sm  # type: ignore[import-not-found]
from scipy import stats  # type: ignore[import-untyped]


def clustered(rng: random.Random, clusters: int, largest: int, binary: bool) -> dict[str, Any]:
    """Return values in clusters of unequal sizes, and the standard error of their mean."""
    values: list[float] = []
    groups: list[int] = []
    for group in range(clusters):
        level = rng.random()
        for _ in range(rng.randint(1, largest)):
            values.append(float(rng.random() < level) if binary else round(rng.gauss(level, 1), 3))
            groups.append(group)
    ones = np.ones(len(values))
    fit = sm.OLS(values, ones).fit(cov_type="cluster", cov_kwds={"groups": np.array(groups)})
    return {"values": values, "groups": groups, "stderr": float(fit.bse[0])}


def main() -> None:
    """Write the file."""
    rng = random.Random(0)
    shares = [(0, 1), (1, 1), (0, 10), (7, 10), (10, 10), (80, 90), (930, 1319)]
    pairs = [(0, 0), (0, 1), (5, 0), (1, 9), (12, 12), (30, 55), (200, 260)]
    found = {
        "t": {df: float(stats.t.ppf(0.975, df)) for df in (1, 2, 3, 4, 9, 30, 999, 1000, 1001)},
        "wilson": [
            [k, n, *map(float, stats.binomtest(k, n).proportion_ci(method="wilson"))]
            for k, n in shares
        ],
        "clustered": [
            clustered(rng, clusters, largest, binary)
            for clusters, largest, binary in [(5, 4, True), (8, 1, False), (12, 6, False)]
        ],
        "mcnemar": [
            [b, c, float(stats.binomtest(b, b + c).pvalue) if b + c else 1.0] for b, c in pairs
        ],
    }
    file = Path(__file__).with_name("statistics.json")
    file.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
