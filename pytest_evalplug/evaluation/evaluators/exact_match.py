"""Exact match of short answers, by the rules of SQuAD made fit for numbers and other scripts."""

from __future__ import annotations

__all__ = ["EMEvaluator", "exact_match"]

from collections.abc import Sequence
from typing import Any, ClassVar

from pytest_evalplug.evaluation.evaluators.reference import MatchEvaluator
from pytest_evalplug.evaluation.registry import evaluators
from pytest_evalplug.evaluation.textnorm import normalize_answer


def exact_match(pred: str, references: Sequence[str]) -> bool:
    """Tell whether ``pred`` equals a reference, both by :func:`normalize_answer`."""
    return normalize_answer(pred) in map(normalize_answer, references)


@evaluators.register("exact_match", "em", "EMEvaluator")
class EMEvaluator(MatchEvaluator):
    """Exact match with a reference, or any of them, after :func:`normalize_answer` on both.

    Metric: ``exact_match``, percent. Source: Rajpurkar et al. 2016, arXiv:1606.05250.
    """

    metric: ClassVar[str] = "exact_match"

    def matches(self, pred: Any, references: Sequence[Any]) -> bool:
        """Compare normalised answers."""
        return exact_match(str(pred), [str(r) for r in references])
