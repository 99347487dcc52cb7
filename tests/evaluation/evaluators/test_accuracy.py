from __future__ import annotations

from typing import Any

import pytest

from pytest_evalplug.errors import ConfigError, EvalplugError
from pytest_evalplug.evaluation.evaluators.accuracy import AccEvaluator, NumberEvaluator


@pytest.mark.parametrize(
    ("prediction", "reference", "right"),
    [
        ("A", "A", True),
        (" A\n", "A", True),
        ("a", "A", False),
        ("B", ["A", "B"], True),
        ("", "A", False),
        ("", "", True),
        (None, "None", False),
        (float("nan"), "nan", False),
        ("A", [None, "A"], True),
        ("0", 0, True),
        ("False", False, True),
        ([], "A", False),
    ],
)
def test_equality(prediction: Any, reference: Any, right: bool) -> None:
    assert AccEvaluator().score_sample(prediction, reference) == {
        "accuracy": float(right),
        "correct": right,
    }


@pytest.mark.parametrize("reference", [None, float("nan"), [], [None]])
def test_without_a_reference_there_is_no_verdict(reference: Any) -> None:
    with pytest.raises(EvalplugError, match="no reference"):
        AccEvaluator().score_sample("A", reference)


def test_case_and_space_options() -> None:
    evaluator = AccEvaluator(ignore_case=True, ignore_space=True)
    assert evaluator.score_sample("] ]", "]]")["correct"]
    assert evaluator.score_sample("NEW  york", "New York")["correct"]


def test_candidates_count_by_share() -> None:
    assert AccEvaluator().score_sample(["A", "B"], "A") == {"accuracy": 0.5, "correct": False}


@pytest.mark.parametrize(
    ("prediction", "reference", "right"),
    [
        ("1,000", "1000.0", True),
        ("$29.00", "29", True),
        ("12345678901234567890", "12345678901234567891", False),
        ("1/3", "0.3333333", False),
        ("", "0", False),
        ("-3", "3", False),
        ("no idea", "0", False),
        (5, "5.0", True),
    ],
)
def test_numbers_by_value(prediction: Any, reference: Any, right: bool) -> None:
    assert NumberEvaluator().score_sample(prediction, reference)["correct"] is right


def test_the_whole_set() -> None:
    result = AccEvaluator().score(["A", "B", "C", "D"], ["A", "B", "C", "A"])
    assert result["accuracy"] == 75.0
    assert [d["correct"] for d in result["details"]] == [True, True, True, False]


@pytest.mark.parametrize(("predictions", "references"), [([], []), (["A"], ["A", "B"])])
def test_empty_or_unequal_sets_are_refused(predictions: Any, references: Any) -> None:
    with pytest.raises(ConfigError, match="equally long and not empty"):
        AccEvaluator().score(predictions, references)
