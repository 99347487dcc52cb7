from __future__ import annotations

from typing import Any

import pytest

from pytest_evalplug.errors import EvalplugError
from pytest_evalplug.evaluation.evaluators.matthews import MccEvaluator, matthews_correlation


def test_the_formula_of_two_classes() -> None:
    # tp 6, tn 3, fp 1, fn 2
    preds = [1] * 6 + [0] * 3 + [1] + [0] * 2
    labels = [1] * 6 + [0] * 3 + [0] + [1] * 2
    expected = (6 * 3 - 1 * 2) / (7 * 8 * 4 * 5) ** 0.5
    assert matthews_correlation(preds, labels) == pytest.approx(expected)


def test_the_ends_of_the_scale() -> None:
    score = MccEvaluator().score
    assert score(["1", "0"], [1, 0]) == {"matthews_correlation": 100.0}
    assert score(["0", "1"], [1, 0]) == {"matthews_correlation": -100.0}
    assert score(["1", "1"], [1, 0]) == {"matthews_correlation": 0.0}


def test_a_missing_pred_is_a_class_of_its_own() -> None:
    missing = MccEvaluator().score(["1", "0", None], [1, 0, 0])
    other = MccEvaluator().score(["1", "0", "no idea"], [1, 0, 0])
    wrong = MccEvaluator().score(["1", "0", "1"], [1, 0, 0])
    assert missing == other
    with_none = MccEvaluator().score([None, "0", "1"], ["None", "0", "1"])
    assert with_none["matthews_correlation"] < 100
    assert wrong["matthews_correlation"] < missing["matthews_correlation"] < 100


def test_a_sample_has_a_verdict_only() -> None:
    assert MccEvaluator().score_sample(" 1", 1) == {"correct": True}
    assert MccEvaluator(ignore_case=True).score_sample("Yes", "yes") == {"correct": True}


@pytest.mark.parametrize(
    ("predictions", "references", "message"),
    [
        ([], [], "0 predictions"),
        (["1"], ["1", "0"], "1 predictions for 2"),
        ([["1"]], ["1"], "not a list"),
        (["1"], [["1"]], "not a list"),
        (["1"], [None], "no reference"),
    ],
)
def test_sets_without_a_correlation(predictions: Any, references: Any, message: str) -> None:
    with pytest.raises(EvalplugError, match=message):
        MccEvaluator().score(predictions, references)
