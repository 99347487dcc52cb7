"""Accuracy: the share of preds that equal a reference."""

from __future__ import annotations

__all__ = ["AccEvaluator", "NumberEvaluator"]

from collections.abc import Sequence
from typing import Any, ClassVar

from pytest_evalplug.evaluation.evaluators.reference import MatchEvaluator
from pytest_evalplug.evaluation.postprocess.number import canonical_number
from pytest_evalplug.evaluation.registry import evaluators


@evaluators.register("accuracy", "acc", "AccEvaluator")
class AccEvaluator(MatchEvaluator):
    """Right if the pred equals the reference, or any of a list of references.

    Outer white space never counts; case and inner white space do unless told otherwise. Metric:
    ``accuracy``, percent. Source: OpenCompass's AccEvaluator, which compares without stripping.
    """

    metric: ClassVar[str] = "accuracy"

    def __init__(
        self,
        pred_postprocessor: Any = None,
        *,
        ignore_case: bool = False,
        ignore_space: bool = False,
    ) -> None:
        super().__init__(pred_postprocessor)
        self.ignore_case = ignore_case
        self.ignore_space = ignore_space

    def matches(self, pred: Any, references: Sequence[Any]) -> bool:
        """Compare in normal form."""
        return self.normalize(pred) in map(self.normalize, references)

    def normalize(self, value: Any) -> str:
        """Return what is compared; the same for preds and references."""
        text = str(value).strip()
        if self.ignore_case:
            text = text.casefold()
        return "".join(text.split()) if self.ignore_space else text


@evaluators.register("number", "NumberEvaluator")
class NumberEvaluator(AccEvaluator):
    """Accuracy of numbers by value: ``1,000`` equals ``1000.0``, exactly and without slack.

    What is no number is compared as text.
    """

    def normalize(self, value: Any) -> str:
        """Return the number's canonical form, or else the text."""
        return canonical_number(str(value)) or super().normalize(value)
