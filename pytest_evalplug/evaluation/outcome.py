"""What an Evaluator returned for one sample, as a Score."""

from __future__ import annotations

__all__ = ["BINARY", "is_number", "scale_of", "to_score"]

import math
from collections.abc import Mapping
from typing import Any

from pytest_evalplug.errors import EvalplugError
from pytest_evalplug.types import Score

BINARY = frozenset({"acc", "accuracy", "em", "exact_match"})
"""Metrics that say right (1) or wrong, whoever computes them."""

_PERCENT = BINARY | {"accuracy_norm", "f1", "rouge1", "rouge2", "rougeL"}


def scale_of(metric: str) -> float:
    """Return what a 0-1 value of ``metric`` is multiplied by, where no Evaluator says so."""
    return 100.0 if metric in _PERCENT else 1.0


def is_number(value: Any) -> bool:
    """Tell whether ``value`` is a metric: an int or a float, but no bool."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def to_score(result: Any, pred: Any, *, metric: str = "score", where: str = "") -> Score:
    """Return ``result``, a Score, a dict of metrics or a number, as a Score.

    ``metric`` is the name of a bare number; ``True`` and ``False`` are also the verdict. Raises
    EvalplugError for anything else, for an ``error`` entry and for values that aren't finite.
    """
    if isinstance(result, Score):
        score = result
    elif isinstance(result, Mapping):
        score = _from_dict(result, where)
    elif isinstance(result, bool):
        score = Score({metric: float(result)}, metadata={"correct": result})
    elif is_number(result):
        score = Score({metric: float(result)})
    else:
        raise EvalplugError(
            f"returned {result!r} for a sample", where=where, fix="Return a Score, dict or number."
        )
    for name, value in score.value.items():
        if not math.isfinite(value):
            raise EvalplugError(f"{name} is {value}, which is no score", where=where)
    if score.extracted_prediction is None:
        score.extracted_prediction = pred
    return score


def _from_dict(result: Mapping[str, Any], where: str) -> Score:
    if "error" in result:
        raise EvalplugError(str(result["error"]), where=where)
    value = {name: float(v) for name, v in result.items() if is_number(v)}
    rest = {name: v for name, v in result.items() if name not in value}
    return Score(value, extracted_prediction=rest.pop("pred", None), metadata=rest or None)
