from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pytest_evalplug.errors import EvalplugError
from pytest_evalplug.evaluation.outcome import (
    is_empty,
    is_number,
    scale_of,
    to_score,
    verdict_of,
)
from pytest_evalplug.types import Score


def test_a_dict_splits_into_metrics_verdict_and_the_rest() -> None:
    score = to_score({"f1": 0.5, "correct": False, "why": "short"}, "pred")
    assert score == Score({"f1": 0.5}, "pred", metadata={"correct": False, "why": "short"})


def test_numbers_and_verdicts() -> None:
    assert to_score(0.25, "p", metric="x") == Score({"x": 0.25}, "p")
    assert to_score(True, "p") == Score({"score": 1.0}, "p", metadata={"correct": True})


def test_an_evaluators_own_pred_is_kept() -> None:
    assert to_score(Score({"x": 1.0}, "own"), "p").extracted_prediction == "own"
    assert to_score({"x": 1.0, "pred": "own"}, "p").extracted_prediction == "own"


@pytest.mark.parametrize("result", [None, "1", [1.0], {"x": float("nan")}, {"error": "no judge"}])
def test_no_silent_number(result: Any) -> None:
    with pytest.raises(EvalplugError):
        to_score(result, "p")


def test_scale() -> None:
    assert scale_of("accuracy") == scale_of("acc") == 100
    assert scale_of("bits_per_char") == 1


@pytest.mark.parametrize("value", [1, 0.5, np.float32(0.5), np.int64(3)])
def test_a_metric_may_be_numpys(value: Any) -> None:
    assert is_number(value)


@pytest.mark.parametrize("value", [True, np.bool_(True), "1", None, [1.0], 1j])
def test_what_is_no_metric(value: Any) -> None:
    assert not is_number(value)


@pytest.mark.parametrize("pred", ["", None, [], (), ["", None], [[]]])
def test_nothing_was_extracted(pred: Any) -> None:
    assert is_empty(pred)


@pytest.mark.parametrize("pred", [" ", "A", 0, False, 0.0, ["", "A"], [0], {"a": 1}])
def test_something_was_extracted(pred: Any) -> None:
    assert not is_empty(pred)


@pytest.mark.parametrize(
    ("detail", "verdict"),
    [
        ({"correct": True}, True),
        ({"correct": np.bool_(False)}, False),
        ({"is_correct": 1}, True),
        ({"cascade_correct": 0.0}, False),
        ({"correct": None, "is_correct": False}, False),
        ({"correct": "yes"}, None),
        ({"correct": np.array([True, False])}, None),
        ({"correct": 0.5}, None),
        ({"pred": True}, None),
    ],
)
def test_the_verdict_of_a_detail(detail: dict[str, Any], verdict: bool | None) -> None:
    assert verdict_of(detail) is verdict
