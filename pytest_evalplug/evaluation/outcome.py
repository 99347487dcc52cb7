"""What an Evaluator returned, for one sample or a set, checked."""

from __future__ import annotations

__all__ = [
    "BINARY",
    "checked_result",
    "is_empty",
    "is_number",
    "scale_of",
    "to_score",
    "verdict_of",
]

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any

from pytest_evalplug.errors import EvalplugError
from pytest_evalplug.types import Score

BINARY = frozenset({"acc", "accuracy", "em", "exact_match"})
"""Metrics that say right (1) or wrong, whoever computes them."""

_VERDICTS = ("correct", "is_correct", "cascade_correct")
_PERCENT = BINARY | {"accuracy_norm", "f1", "rouge1", "rouge2", "rougeL"}


def scale_of(metric: str) -> float:
    """Return what a 0-1 value of ``metric`` is multiplied by, where no Evaluator says so."""
    return 100.0 if metric in _PERCENT else 1.0


def is_number(value: Any) -> bool:
    """Tell whether ``value`` is a metric: an int, a float or numpy's, but no bool."""
    if type(value) in (float, int):  # to ask for any Real takes ten times as long
        return True
    return isinstance(value, Real) and not isinstance(value, bool)


def is_empty(pred: Any) -> bool:
    """Tell whether extraction found nothing: ``''``, ``None``, ``[]``, or a list of only these."""
    if isinstance(pred, (list, tuple)):
        return all(map(is_empty, pred))
    return pred is None or (isinstance(pred, str) and not pred)


def verdict_of(detail: Mapping[str, Any]) -> bool | None:
    """Return whether a detail calls its sample right; None if it has no verdict.

    That is ``correct``, ``is_correct`` or ``cascade_correct``: a bool (also numpy's), or 0 or 1.
    """
    for name in _VERDICTS:
        value: Any = detail.get(name)
        if getattr(value, "shape", None) == ():  # numpy's scalars
            value = value.item()
        if isinstance(value, (bool, int, float)) and value in (0, 1):
            return bool(value)
    return None


def checked_result(result: Any, size: int, *, where: str = "") -> dict[str, Any]:
    """Return what ``score`` gave for ``size`` samples, ``details`` as a list.

    Details may come as a dict of them. Raises EvalplugError for anything but a dict, for metrics
    that aren't finite and for details that aren't one dict a sample. A result with an ``error``
    is returned as it is.
    """
    if not isinstance(result, Mapping):
        raise EvalplugError(
            f"score() returned {type(result).__name__}", where=where, fix="Return a dict."
        )
    if "error" in result:
        return dict(result)
    for name, value in result.items():
        if is_number(value) and not math.isfinite(value):
            raise EvalplugError(f"{name} is {value}, which is no score", where=where)
    details = result.get("details")
    if isinstance(details, Mapping):
        details = list(details.values())
    if details is None or (isinstance(details, list) and not details):
        return {name: value for name, value in result.items() if name != "details"}
    if not isinstance(details, list) or not all(isinstance(d, Mapping) for d in details):
        raise EvalplugError(
            "details is no list of dicts", where=where, fix="Return one dict a sample."
        )
    if len(details) != size:
        raise EvalplugError(
            f"score() returned {len(details)} details for {size} samples",
            where=where,
            fix="Return one dict a sample, in their order.",
        )
    return {**result, "details": details}


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
