"""ARC, the mean of its easy and its challenging questions."""

from __future__ import annotations

from typing import Any

summarizer: dict[str, Any] = dict(
    dataset_abbrs=[["arc", "naive_average"], "arc_easy", "arc_challenge"],
    summary_groups=[dict(name="arc", subsets=["arc_easy", "arc_challenge"])],
)
