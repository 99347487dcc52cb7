from __future__ import annotations

from typing import Any

import pytest

from pytest_evalplug.errors import EvalplugError
from pytest_evalplug.evaluation.outcome import scale_of, to_score
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
