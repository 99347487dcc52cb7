"""Area under the ROC curve, of predictions that are probabilities."""

from __future__ import annotations

__all__ = ["AUCROCEvaluator", "auc_roc"]

import math
from collections.abc import Sequence
from itertools import groupby
from statistics import fmean
from typing import Any

from pytest_evalplug.errors import ConfigError, EvalplugError
from pytest_evalplug.evaluation.base import BaseEvaluator
from pytest_evalplug.evaluation.registry import evaluators

_CLASSES = {"0": 0, "False": 0, "A": 0, "1": 1, "True": 1, "B": 1}


def auc_roc(labels: Sequence[int], scores: Sequence[float]) -> float:
    """Return the share of pairs of classes 0 and 1 that ``scores`` rank rightly; a tie is half.

    This equals the area under the ROC curve (Hanley and McNeil 1982). Raises EvalplugError if
    there is only one class, where it is undefined.
    """
    positives = sum(labels)
    negatives = len(labels) - positives
    if not positives or not negatives:
        raise EvalplugError("AUC-ROC needs samples of both classes", where="AUCROCEvaluator")
    below, doubled = 0, 0  # negatives so far, and twice the pairs won
    ranked = sorted(zip(scores, labels, strict=True))
    for _, tied in groupby(ranked, key=lambda pair: pair[0]):
        members = [label for _, label in tied]
        won = sum(members)
        doubled += won * (2 * below + len(members) - won)
        below += len(members) - won
    return doubled / (2 * positives * negatives)


@evaluators.register("auc_roc", "AUCROCEvaluator")
class AUCROCEvaluator(BaseEvaluator):
    """AUC-ROC of two classes, and accuracy.

    A prediction is the probability (or any score) of class 1, or the list of both classes'
    probabilities; of choices by likelihood (``--eval-mode=ll``) their log-probabilities count.
    References: 0 and 1, ``False`` and ``True``, or the letters A and B. A prediction that is no
    number ranks on the wrong end, as a wrong answer. Metrics, percent: ``auc_score`` and, unless
    predictions are bare scores, ``accuracy``. Source: OpenCompass's AUCROCEvaluator, which takes
    scikit-learn's roc_auc_score.
    """

    def score(
        self,
        predictions: Sequence[Any],
        references: Sequence[Any],
        logprobs: Sequence[Any] | None = None,
        pred_label: Sequence[Any] | None = None,
    ) -> dict[str, Any]:
        """Score the set; ``logprobs`` beside a ``pred_label`` are those of the choices.

        Raises ConfigError for an empty set or columns of different lengths, EvalplugError for a
        reference of no class, a set of one class, predictions of other than two, and where none
        is a number.
        """
        by_likelihood = logprobs is not None and pred_label is not None
        given = logprobs if logprobs is not None and by_likelihood else predictions
        if not given or len(given) != len(references):
            raise ConfigError(f"{len(given)} predictions for {len(references)} references")
        labels, pairs = [*map(_class_of, references)], [*map(_pair, given)]
        if not any(pairs):
            raise EvalplugError(
                f"AUC-ROC needs probabilities, not {given[0]!r}",
                where="AUCROCEvaluator",
                fix="Use --eval-mode=ll, or a postprocessor that returns a number.",
            )
        if by_likelihood:  # it says how probable a class is only beside that of the other
            pairs = [pair and (0.0, pair[1] - pair[0]) for pair in pairs]
        metrics = {"auc_score": 100 * auc_roc(labels, [*map(_rank, pairs, labels)])}
        if any(isinstance(prediction, (list, tuple)) for prediction in given):
            metrics["accuracy"] = 100 * fmean(map(_is_right, pairs, labels))
        return metrics


def _class_of(reference: Any) -> int:
    try:
        return _CLASSES[str(reference).strip()]
    except KeyError:
        raise EvalplugError(
            f"the reference {reference!r} is neither of two classes",
            where="AUCROCEvaluator",
            fix="Use 0 and 1, False and True, or A and B.",
        ) from None


def _pair(prediction: Any) -> tuple[float, float] | None:
    """Return the scores of classes 0 and 1, or ``None`` for what is no number."""
    values = prediction if isinstance(prediction, (list, tuple)) else (0.0, prediction)
    if len(values) != 2:
        raise EvalplugError(
            f"AUC-ROC is of two classes, not of {len(values)}", where="AUCROCEvaluator"
        )
    try:
        zero, one = map(float, values)
    except (TypeError, ValueError):
        return None
    return None if math.isnan(zero) or math.isnan(one) else (zero, one)


def _rank(pair: tuple[float, float] | None, label: int) -> float:
    if pair is None:
        return -math.inf if label else math.inf
    return pair[1]


def _is_right(pair: tuple[float, float] | None, label: int) -> bool:
    return pair is not None and (pair[1] > pair[0]) == bool(label)
