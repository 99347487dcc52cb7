r"""Equality of mathematical answers, right for wrongly laid out ones and safe with hostile ones."""

from __future__ import annotations

__all__ = ["MathEvaluator", "math_equal"]

import re
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from pytest_evalplug.errors import ConfigError
from pytest_evalplug.evaluation.base import BaseEvaluator
from pytest_evalplug.evaluation.mathematics.algebra import ChildAlgebra, OutOfTime
from pytest_evalplug.evaluation.mathematics.compare import Comparison
from pytest_evalplug.evaluation.mathematics.reading import read_answer
from pytest_evalplug.evaluation.postprocess.math_answer import math_answer
from pytest_evalplug.evaluation.registry import evaluators

_SHARE = 0.5
"""Of the time limit, what algebra may use; the rest is for a process that has to start."""


_LENGTH = 500
_FORMULAS = re.compile(r"\s*\$[^$\n]+\$(?:\s*(?:,|,?\s?and|,?\s?or)\s*\$[^$\n]+\$)+[\s.]*")


@dataclass(frozen=True, slots=True)
class _Verdict:
    equal: bool
    method: str


@evaluators.register("math", "MathEvaluator", "MATHVerifyEvaluator")
class MathEvaluator(BaseEvaluator):
    r"""Right if the reply's final answer equals a reference as mathematics.

    Predictions are whole replies, of which the ``math-answer`` counts, or formulas; references are
    LaTeX without dollars, or a list of alternatives. Compared are numbers (fractions, mixed
    numbers, decimals, percent, thousands marks), with or without unit, expressions, equations,
    inequalities, intervals, coordinates, sets and lists, matrices, numbers in another base, and
    words; see :func:`math_equal` for the rules. ``timeout`` is in seconds: a sample that takes
    longer is wrong.

    Metric: ``accuracy``, percent. ``method`` says what decided: ``text``, ``number`` (exact
    fractions), ``symbolic`` (a child process, with math-verify for what isn't read here) or
    ``timeout``. Raises ConfigError without the extra ``math``.
    """

    def __init__(self, pred_postprocessor: Any = None, *, timeout: float = 5.0) -> None:
        super().__init__(pred_postprocessor)
        _check_installed()
        if timeout <= 0:
            raise ConfigError(f"timeout must be positive, not {timeout}", where="MathEvaluator")
        self.timeout = timeout

    def score_sample(self, prediction: Any, reference: Any) -> dict[str, Any]:
        """Compare one reply with the reference, or each of a list of references."""
        references = reference if isinstance(reference, (list, tuple)) else [reference]
        if not references or any(r is None for r in references):
            raise ConfigError("a sample has no reference", where="MathEvaluator")
        verdict = _compare(prediction, [str(r) for r in references], self.timeout)
        value = float(verdict.equal)
        return {"accuracy": value, "correct": verdict.equal, "method": verdict.method}


def math_equal(pred: Any, gold: str, *, timeout: float = 5.0) -> bool:
    r"""Tell whether the final answer of ``pred`` equals ``gold``, LaTeX without dollars.

    - Numbers are compared exactly: no rounding. ``0.5`` is ``\frac12``; ``0.33`` is not
      ``\frac13``.
    - A unit, currency or degree sign counts only if both have one. ``50\%`` is 50 or 0.5.
    - Lists, sets and ``\pm`` have no order; coordinates, intervals and matrices do. The ends of
      an interval must be open or closed alike. ``x > 3`` is ``(3, \infty)``.
    - ``5`` and ``x = 5`` are equal, ``y = 5`` and ``x = 5`` are not. Equations and inequalities
      are equal if one is a multiple of the other.
    - Expressions are equal if their values are, for any values of the variables.
    - What can't be read is compared as text, without layout.

    Takes at most about ``timeout`` seconds, after which the answer is wrong. May be called from
    any thread. Raises ConfigError without the extra ``math``.
    """
    _check_installed()
    return _compare(pred, [gold], timeout).equal


def _compare(pred: Any, golds: list[str], timeout: float) -> _Verdict:
    formula = _line(pred) or math_answer(pred) or _sentence(pred)
    if not formula:
        return _Verdict(False, "text")
    answer = read_answer(formula)
    comparison = Comparison(ChildAlgebra(timeout * _SHARE))
    try:
        right = any(comparison.equal(read_answer(gold), answer) for gold in golds)
    except OutOfTime:
        return _Verdict(False, "timeout")
    return _Verdict(right, comparison.method)


def _line(pred: Any) -> str:
    """Return a pred that is nothing but formulas: ``$x = 3$ or $x = -3$``."""
    text = "" if pred is None else str(pred)[:_LENGTH]
    return text.replace("$", " ").strip(" .") if _FORMULAS.fullmatch(text) else ""


def _sentence(pred: Any) -> str:
    """Return a pred of one line, which has been extracted already: "12 miles per hour"."""
    text = "" if pred is None else str(pred).strip()
    return "" if "\n" in text or "boxed{" in text else text


def _check_installed() -> None:
    if find_spec("math_verify") is None:
        raise ConfigError(
            "comparing mathematical answers needs math-verify",
            where="MathEvaluator",
            fix="pip install 'pytest-evalplug[math]'",
        )
