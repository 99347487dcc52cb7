"""Exact match of short answers, by the rules of SQuAD made fit for numbers and other scripts."""

from __future__ import annotations

__all__ = ["EMEvaluator", "normalize_answer"]

import re
import unicodedata
from typing import Any

from pytest_evalplug.evaluation.evaluators.accuracy import AccEvaluator
from pytest_evalplug.evaluation.postprocess.text import nfkc
from pytest_evalplug.evaluation.registry import evaluators

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


def normalize_answer(text: str) -> str:
    """Return ``text`` in the form in which short answers are compared.

    NFKC, lower case, no punctuation, no articles, single spaces (Rajpurkar et al. 2016,
    arXiv:1606.05250). A decimal point and the minus sign in front of a number stay, since
    without them it would be another number. A text that this would empty is only stripped.
    """
    folded = nfkc(text).lower()
    kept = "".join(
        c for i, c in enumerate(folded) if not _is_punctuation(c) or _in_number(folded, i)
    )
    words = " ".join(_ARTICLES.sub(" ", kept).split())
    return words or " ".join(folded.split())


def _is_punctuation(char: str) -> bool:
    return unicodedata.category(char)[0] == "P" or char == "\u2212"


def _in_number(text: str, i: int) -> bool:
    """Tell whether the punctuation at ``i`` is a number's decimal point or leading minus."""
    if not text[i + 1 : i + 2].isdecimal():
        return False
    before = text[i - 1 : i]
    if text[i] == ".":
        return before.isdecimal()
    return text[i] in "-\u2212\u2013" and not before.isalnum()


@evaluators.register("exact_match", "em", "EMEvaluator")
class EMEvaluator(AccEvaluator):
    """Exact match with a reference, or any of them, after :func:`normalize_answer` on both.

    Metric: ``exact_match``, percent.
    """

    def score_sample(self, prediction: Any, reference: Any) -> dict[str, Any]:
        """Compare one pred, or each of a list of candidates, with the reference."""
        result = super().score_sample(prediction, reference)
        return {"exact_match": result["accuracy"], "correct": result["correct"]}

    def normalize(self, value: Any) -> str:
        """Return the normalised answer."""
        return normalize_answer(str(value))
