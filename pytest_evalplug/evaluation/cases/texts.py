"""Cases of answers that are compared with references."""

from __future__ import annotations

__all__ = ["check_math_equal", "check_text_match"]

import inspect
import time
from typing import Any

from pytest_evalplug.dataset.table import Record
from pytest_evalplug.evaluation.cases.report import Finding
from pytest_evalplug.evaluation.evaluators.math import MathEvaluator
from pytest_evalplug.evaluation.outcome import to_score
from pytest_evalplug.evaluation.postprocessor import Postprocessor, apply_steps
from pytest_evalplug.evaluation.registry import evaluators

Steps = tuple[Postprocessor, ...]

_SECONDS = 5.0
_ON_A_HUNDRED = ("bleu", "chrf")


def check_text_match(row: Record, steps: Steps) -> Finding:
    """Compare a metric's value for one answer.

    ``metric`` is a registered Evaluator, ``lang`` its option where it has one. ``expected`` is a
    number, met to 0.001, or ``{"min", "max"}``; for BLEU and chrF from 0 to 100, met to 0.1.
    """
    metric, expected = row["metric"], row["expected"]
    evaluator_type = evaluators.get(metric)
    takes_lang = row.get("lang") and "lang" in inspect.signature(evaluator_type).parameters
    evaluator = evaluator_type(**({"lang": row["lang"]} if takes_lang else {}))
    pred = apply_steps(steps, row["pred"])
    score = to_score(evaluator.score_sample(pred, row["golds"]), pred, metric=evaluator.metric)
    scale, slack = (100, 0.1) if metric in _ON_A_HUNDRED else (1, 0.001)
    got = scale * next(iter(score.value.values()))
    bounds = expected if isinstance(expected, dict) else {"min": expected, "max": expected}
    right = bounds["min"] - slack <= got <= bounds["max"] + slack
    return Finding(
        row["pred"],
        {"golds": row["golds"], metric: expected},
        {**_tried(pred, steps), metric: got},
        right,
    )


def check_math_equal(row: Record, steps: Steps) -> Finding:
    """Compare the verdict on one answer, which must come within ``max_seconds``."""
    limit = row.get("max_seconds") or _SECONDS
    pred = apply_steps(steps, row["pred"])
    start = time.monotonic()
    result = MathEvaluator(timeout=0.8 * limit).score_sample(pred, row["gold"])
    seconds = time.monotonic() - start
    got = {**_tried(pred, steps), "right": result["correct"], "by": result["method"]}
    if seconds > limit:
        got["seconds"] = round(seconds, 1)
    return Finding(
        row["pred"],
        {"gold": row["gold"], "right": row["right"]},
        got,
        result["correct"] is row["right"] and seconds <= limit,
    )


def _tried(pred: Any, steps: Steps) -> dict[str, Any]:
    """Return what a postprocessor that is tried made, for the report."""
    return {"pred": pred} if steps else {}
