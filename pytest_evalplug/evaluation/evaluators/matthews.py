"""Matthews correlation of predicted and right classes."""

from __future__ import annotations

__all__ = ["MccEvaluator", "matthews_correlation"]

from collections import Counter
from collections.abc import Hashable, Sequence
from math import sqrt
from typing import Any

from pytest_evalplug.errors import ConfigError, EvalplugError
from pytest_evalplug.evaluation.evaluators.accuracy import AccEvaluator
from pytest_evalplug.evaluation.evaluators.reference import is_missing
from pytest_evalplug.evaluation.registry import evaluators


def matthews_correlation(preds: Sequence[Hashable], labels: Sequence[Hashable]) -> float:
    """Return the correlation of two lists of classes, from -1 to 1.

    For more than two classes this is Gorodkin's R_K (2004). It is 0 where either list has one
    class only, as in scikit-learn's matthews_corrcoef.
    """
    total = len(labels)
    ours, theirs = Counter(preds), Counter(labels)
    right = sum(pred == label for pred, label in zip(preds, labels, strict=True))
    covariance = right * total - sum(ours[c] * theirs[c] for c in theirs)
    spread = _spread(ours, total) * _spread(theirs, total)
    return covariance / sqrt(spread) if spread else 0.0


def _spread(counts: Counter[Hashable], total: int) -> int:
    return total * total - sum(count * count for count in counts.values())


@evaluators.register("matthews_correlation", "mcc", "MccEvaluator")
class MccEvaluator(AccEvaluator):
    """Matthews correlation over the set; a sample is right or wrong as for AccEvaluator.

    A missing pred is a class of its own, and so always wrong. Metric: ``matthews_correlation``,
    -100 to 100. Source: Matthews 1975; OpenCompass's MccEvaluator, which has the same scale.
    """

    def score_sample(self, prediction: Any, reference: Any) -> dict[str, Any]:
        """Return the verdict alone: there is no correlation of one sample."""
        return {"correct": super().score_sample(prediction, reference)["correct"]}

    def score(self, predictions: Sequence[Any], references: Sequence[Any]) -> dict[str, Any]:
        """Score the set.

        Raises ConfigError for an empty set, columns of different lengths and lists (a sample has
        one class), EvalplugError for a missing reference.
        """
        if not predictions or len(predictions) != len(references):
            raise ConfigError(f"{len(predictions)} predictions for {len(references)} references")
        if any(isinstance(value, (list, tuple)) for value in (*predictions, *references)):
            raise ConfigError("Matthews correlation needs one class a sample, not a list")
        if any(map(is_missing, references)):
            raise EvalplugError("a sample has no reference", where="MccEvaluator")
        preds = [None if is_missing(pred) else self.normalize(pred) for pred in predictions]
        labels = [self.normalize(reference) for reference in references]
        return {"matthews_correlation": 100 * matthews_correlation(preds, labels)}
