"""What an Evaluator is given to compare: references, and candidates for an answer."""

from __future__ import annotations

__all__ = ["MatchEvaluator", "TextEvaluator", "accepted", "candidates", "is_missing"]

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from pytest_evalplug.errors import EvalplugError
from pytest_evalplug.evaluation.base import BaseEvaluator


def is_missing(value: Any) -> bool:
    """Tell whether ``value`` stands for no value: ``None`` or NaN."""
    return value is None or value != value


def accepted(reference: Any) -> list[Any]:
    """Return the references that count: ``reference``, or the entries of a list of them.

    Raises EvalplugError if there is none.
    """
    references = list(reference) if isinstance(reference, (list, tuple)) else [reference]
    there = [r for r in references if not is_missing(r)]
    if not there:
        raise EvalplugError(
            "the sample has no reference", fix="Check its target and dataset_postprocessor."
        )
    return there


def candidates(prediction: Any) -> list[Any]:
    """Return the answers to judge: ``prediction``, or the entries of a list of candidates."""
    return (prediction or [None]) if isinstance(prediction, list) else [prediction]


class MatchEvaluator(BaseEvaluator):
    """Says right or wrong: right if any of the references is matched.

    A missing pred (``None``, NaN) is wrong. Of a list of candidates the share that is right
    counts, and the verdict is right only if all are.
    """

    def matches(self, pred: Any, references: Sequence[Any]) -> bool:
        """Tell whether ``pred`` is right by at least one of the references."""
        raise NotImplementedError

    def score_sample(self, prediction: Any, reference: Any) -> dict[str, Any]:
        """Judge one pred, or each of a list of candidates. Raises as :func:`accepted` does."""
        references = accepted(reference)
        right = [
            not is_missing(pred) and self.matches(pred, references)
            for pred in candidates(prediction)
        ]
        return {self.metric: fmean(right), "correct": all(right)}


class TextEvaluator(BaseEvaluator):
    """Says how near a text comes to the best of its references; there is no verdict.

    A missing pred (``None``, NaN) scores 0, and a list of candidates the mean of their scores.
    """

    def compare(self, pred: str, references: Sequence[str]) -> Mapping[str, float]:
        """Return each metric of ``pred``, from 0 to 1."""
        raise NotImplementedError

    def score_sample(self, prediction: Any, reference: Any) -> dict[str, float]:
        """Score one pred, or each of a list of candidates. Raises as :func:`accepted` does."""
        references = [str(r) for r in accepted(reference)]
        scores = [self._scores(pred, references) for pred in candidates(prediction)]
        return {metric: fmean(score[metric] for score in scores) for metric in scores[0]}

    def _scores(self, pred: Any, references: Sequence[str]) -> Mapping[str, float]:
        if is_missing(pred):
            return dict.fromkeys(self.compare("", references), 0.0)
        return self.compare(str(pred), references)
