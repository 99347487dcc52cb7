from __future__ import annotations

from typing import Any

import pytest

from pytest_evalplug.errors import EvalplugError
from pytest_evalplug.evaluation.evaluators.auc import AUCROCEvaluator, auc_roc


def test_pairs_ranked_rightly() -> None:
    assert auc_roc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]) == 0.75
    assert auc_roc([0, 1], [0.5, 0.5]) == 0.5
    assert auc_roc([1, 0], [0.1, 0.9]) == 0


def test_class_probabilities_also_give_accuracy() -> None:
    result = AUCROCEvaluator().score([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]], ["0", 1, True])
    assert result == {"auc_score": 100.0, "accuracy": pytest.approx(200 / 3)}


def test_bare_scores() -> None:
    assert AUCROCEvaluator().score(["0.2", 3], [False, True]) == {"auc_score": 100.0}


def test_choices_by_likelihood() -> None:
    logprobs = [[-1.0, -9.0], [-800.0, -790.0]]
    result = AUCROCEvaluator().score(["A", "B"], ["A", "B"], logprobs, ["A", "B"])
    assert result == {"auc_score": 100.0, "accuracy": 100.0}


def test_the_likelihoods_of_a_reply_are_no_scores() -> None:
    tokens = [{"token": "0"}, {"token": "1"}]
    assert AUCROCEvaluator().score(["0.1", "0.9"], [0, 1], tokens) == {"auc_score": 100.0}


@pytest.mark.parametrize("missing", [None, float("nan"), "", "very likely", [None, 0.5]])
def test_what_is_no_number_ranks_on_the_wrong_end(missing: Any) -> None:
    assert AUCROCEvaluator().score([0.2, 0.8, missing], [0, 1, 1])["auc_score"] == 50.0
    assert AUCROCEvaluator().score([0.2, 0.8, missing], [0, 1, 0])["auc_score"] == 50.0


@pytest.mark.parametrize(
    ("predictions", "references", "message"),
    [
        ([], [], "0 predictions"),
        ([0.1], [0, 1], "1 predictions for 2"),
        (["A", "B"], [0, 1], "needs probabilities, not 'A'"),
        ([0.1, 0.2], [1, 1], "both classes"),
        ([0.1, 0.2], [0, "C"], "'C' is neither"),
        ([0.1, 0.2], [0, None], "None is neither"),
        ([[0.1, 0.2, 0.7], [1, 0, 0]], [0, 1], "not of 3"),
    ],
)
def test_sets_without_a_curve(predictions: Any, references: Any, message: str) -> None:
    with pytest.raises(EvalplugError, match=message):
        AUCROCEvaluator().score(predictions, references)
