"""Inverse IFEval: eight types of instruction that go against habit, in Chinese and English.

Overall and Chinese alone, each sample counting the same, and the macro average, each subset
counting the same. OpenCompass calls its datasets ``InverseIFEval_zh_QC`` and so on: for a run of
those, copy this with that prefix. Source: Zhang et al. 2025, arXiv:2509.04292.
"""

from __future__ import annotations

from typing import Any

SAMPLES = {"QC": 90, "ITF": 86, "CC": 198, "CCF": 82, "DIA": 186, "II": 154, "MIM": 108, "CA": 108}
"""Samples of a type, half of them Chinese and half English."""


def _subsets(*languages: str) -> dict[str, int]:
    return {
        f"inverse_ifeval-{language}_{kind}": count // 2
        for language in languages
        for kind, count in SAMPLES.items()
    }


def _group(name: str, subsets: dict[str, int], *, weighted: bool) -> dict[str, Any]:
    group: dict[str, Any] = dict(name=name, subsets=[[subset, "accuracy"] for subset in subsets])
    return group | dict(weights=subsets) if weighted else group


summarizer: dict[str, Any] = dict(
    dataset_abbrs=[
        ["InverseIFEval", "weighted_average"],
        ["InverseIFEval_zh", "weighted_average"],
        ["InverseIFEval_macro", "naive_average"],
        *([subset, "accuracy"] for subset in _subsets("zh", "en")),
    ],
    summary_groups=[
        _group("InverseIFEval", _subsets("zh", "en"), weighted=True),
        _group("InverseIFEval_zh", _subsets("zh"), weighted=True),
        _group("InverseIFEval_macro", _subsets("zh", "en"), weighted=False),
    ],
)
