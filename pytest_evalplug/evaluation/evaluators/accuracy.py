"""Accuracy: the share of preds that equal a reference."""

from __future__ import annotations

__all__ = ["AccEvaluator", "NumberEvaluator"]

from typing import Any

from pytest_evalplug.evaluation.base import BaseEvaluator
from pytest_evalplug.evaluation.postprocess.number import canonical_number
from pytest_evalplug.evaluation.registry import evaluators


@evaluators.register("accuracy", "acc", "AccEvaluator")
class AccEvaluator(BaseEvaluator):
    """Right if the pred equals the reference, or any of a list of references.

    Outer white space never counts; case and inner white space do unless told otherwise. ``None``
    equals nothing, not even another ``None``. Of a list of candidates the share that is right
    counts, and the verdict is right only if all are. Metric: ``accuracy``, percent.
    """

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

    def score_sample(self, prediction: Any, reference: Any) -> dict[str, Any]:
        """Compare one pred, or each of a list of candidates, with the reference."""
        candidates = prediction if isinstance(prediction, list) else [prediction]
        references = reference if isinstance(reference, (list, tuple)) else [reference]
        wanted = {self.normalize(r) for r in references if r is not None}
        right = [c is not None and self.normalize(c) in wanted for c in candidates]
        share = sum(right) / len(right) if right else 0.0
        return {"accuracy": share, "correct": share == 1}

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
