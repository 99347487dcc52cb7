"""Multiple choice in all rotations: the original order beside all orders right."""

from __future__ import annotations

from typing import Any

summarizer: dict[str, Any] = dict(
    type="CircularSummarizer",
    metric_types=["acc_origin", "acc_circular", "perf_circular"],
)
