"""Token F1 of short answers."""

from __future__ import annotations

__all__ = ["F1Evaluator", "token_f1"]

from collections import Counter
from collections.abc import Sequence
from typing import ClassVar

from pytest_evalplug.evaluation.evaluators.reference import TextEvaluator
from pytest_evalplug.evaluation.registry import evaluators
from pytest_evalplug.evaluation.textnorm import normalize_answer, tokens


def token_f1(pred: str, references: Sequence[str]) -> float:
    """Return the F1 of the words that ``pred`` shares with the best reference, from 0 to 1.

    Both go through :func:`normalize_answer`; Chinese counts by character. An empty answer
    equals only an empty reference.
    """
    ours = _counts(pred)
    return max(_f1(ours, _counts(reference)) for reference in references)


def _counts(text: str) -> Counter[str]:
    return Counter(tokens(normalize_answer(text)))


def _f1(ours: Counter[str], theirs: Counter[str]) -> float:
    if not ours or not theirs:
        return float(ours == theirs)
    return 2 * (ours & theirs).total() / (ours.total() + theirs.total())


@evaluators.register("f1", "F1Evaluator")
class F1Evaluator(TextEvaluator):
    """Token F1 (:func:`token_f1`) with the best of the references.

    Metric: ``f1``, percent; per sample from 0 to 1. Source: Rajpurkar et al. 2016,
    arXiv:1606.05250; by character where words aren't set apart, as in MLQA.
    """

    metric: ClassVar[str] = "f1"

    def compare(self, pred: str, references: Sequence[str]) -> dict[str, float]:
        """Return ``f1``."""
        return {self.metric: token_f1(pred, references)}
