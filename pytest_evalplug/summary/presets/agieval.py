"""AGIEval: all exams, and those in Chinese (the gaokao) and in English apart."""

from __future__ import annotations

from typing import Any

CHINESE = [
    *("gaokao-biology", "gaokao-chemistry", "gaokao-chinese", "gaokao-english", "gaokao-geography"),
    *("gaokao-history", "gaokao-mathcloze", "gaokao-mathqa", "gaokao-physics"),
]
ENGLISH = [
    *("aqua-rat", "lsat-ar", "lsat-lr", "lsat-rc", "math", "sat-en", "sat-en-without-passage"),
    "sat-math",
]

summarizer: dict[str, Any] = dict(
    dataset_abbrs=[
        ["agieval", "naive_average"],
        ["agieval-chinese", "naive_average"],
        ["agieval-english", "naive_average"],
    ],
    summary_groups=[
        dict(name=f"agieval-{name}", subsets=[f"agieval-{exam}" for exam in exams])
        for name, exams in (("chinese", CHINESE), ("english", ENGLISH))
    ],
)
