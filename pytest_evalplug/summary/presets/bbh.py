"""BIG-Bench Hard: all, and its algorithmic and its language tasks apart.

Of the 27 subsets those that are one task in several sizes count as one, which makes 11 and 12
tasks (Suzgun et al. 2022, table 2).
"""

from __future__ import annotations

from typing import Any

SIZES = ("three_objects", "five_objects", "seven_objects")
# fmt: off
ALGORITHMIC = [
    "boolean_expressions", "dyck_languages", "geometric_shapes", "logical_deduction",
    "multistep_arithmetic_two", "navigate", "object_counting", "temporal_sequences",
    "tracking_shuffled_objects", "web_of_lies", "word_sorting",
]
LANGUAGE = [
    "causal_judgement", "date_understanding", "disambiguation_qa", "formal_fallacies",
    "hyperbaton", "movie_recommendation", "penguins_in_a_table", "reasoning_about_colored_objects",
    "ruin_names", "salient_translation_error_detection", "snarks", "sports_understanding",
]
# fmt: on


def _group(name: str, parts: list[str]) -> dict[str, Any]:
    return dict(name=f"bbh-{name}", subsets=[f"bbh-{part}" for part in parts])


summarizer: dict[str, Any] = dict(
    dataset_abbrs=[
        ["bbh", "naive_average"],
        ["bbh-algorithmic", "naive_average"],
        ["bbh-language", "naive_average"],
    ],
    summary_groups=[
        _group("algorithmic", ALGORITHMIC),
        _group("language", LANGUAGE),
        *(
            _group(task, [f"{task}_{size}" for size in SIZES])
            for task in ("logical_deduction", "tracking_shuffled_objects")
        ),
    ],
)
