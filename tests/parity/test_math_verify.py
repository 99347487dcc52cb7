r"""MathEvaluator against math-verify, on formulas that both read.

Both agree on pairs of MATH-500's references. On the labelled cases they differ where DIFFERENCES
says, which is where math-verify's verdict is not the label's. Parsing is slow: set EVALPLUG_SLOW
to compare all pairs, and not one in eight.
"""

from __future__ import annotations

import json
import logging
import os
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import math_verify
import pytest

from pytest_evalplug.evaluation.cases import files
from pytest_evalplug.evaluation.evaluators.math import MathEvaluator

STEP = 1 if os.environ.get("EVALPLUG_SLOW") else 8
DIFFERENCES = {
    "a part stands for the whole": {
        ("2+\\foo{3}", "2"),
        ("\\operatorname{lcm}(2,3)", "6"),
        ("3:1", "3"),
        ("3", "3:1"),
        ("0\\Re", "0"),
        ("0 \\times \\heartsuit", "0"),
    },
    "the right side of any equation is its value": {("3x-y+13=0", "0")},
    "coordinates and sets are the same": {("\\{1,2\\}", "(1,2)"), ("1,2", "(1,2)")},
    "units differ": {("12 \\text{ cm}", "12 \\text{ m}")},
    "bases do not count": {("12_9", "12_8")},
    "case does not count": {("R^2", "r^2")},
    "what is denied is an answer": {("The answer is not 5.", "5")},
    "repeating decimals": {
        ("0.\\overline{3}", "\\frac13"),
        ("0.1\\overline{6}", "\\frac16"),
        ("0.\\dot{3}", "\\frac13"),
        ("0.333...", "\\frac13"),
        ("0.1666\\ldots", "\\frac16"),
    },
    "the order of unknowns": {("y=2,x=1", "(1,2)")},
    "multiples of inequalities": {("2x>4", "x>2"), ("-2x>4", "x<-2")},
    "scientific notation": {
        ("1e3", "1000"),
        ("1.5e-3", "0.0015"),
        ("6.02 \u00d7 10\u00b2\u00b3", "6.02 \\cdot 10^{23}"),
    },
    "an upright e": {("\\mathrm{e}^2", "e^2")},
    "roots of negative numbers, and i": {
        ("\\sqrt[3]{-8}", "-2"),
        ("\\sqrt{-4}", "2i"),
        ("i^2", "-1"),
        ("e^{i\\pi}", "-1"),
    },
    "a root without braces": {("\\sqrt 17", "\\sqrt{17}")},
    "an option with what it says": {
        ("\\boxed{\\textbf{(C)}\\ 12}", "\\text{(C)}"),
        ("\\boxed{\\textbf{(C)}\\ 12}", "12"),
        ("C) 12", "\\text{(C)}"),
    },
    "words": {("an ellipse", "\\text{ellipse}")},
    "spellings of the empty set": {
        ("The empty set", "\\emptyset"),
        ("\\text{empty set}", "\\emptyset"),
    },
    "inequalities are intervals": {
        ("2 \\le x < 5", "[2,5)"),
        ("5 > x \\ge 2", "[2,5)"),
        ("x > 2", "(2,\\infty)"),
        ("\\{x \\mid x > 2\\}", "(2,\\infty)"),
        ("\\{x \\in \\mathbb{R} : x > 2\\}", "(2,\\infty)"),
        ("x<2 or x>3", "(-\\infty, 2) \\cup (3, \\infty)"),
        ("(-\\infty, 2) U (3, \\infty)", "(-\\infty, 2) \\cup (3, \\infty)"),
    },
    "angle brackets": {("\\langle 1,2\\rangle", "(1,2)")},
    "units in words": {
        ("\\text{Area} = 25\\pi \\text{ cm}^2", "25\\pi"),
        ("12 square centimeters", "12 \\text{ cm}^2"),
        ("12 miles per hour", "12"),
        ("18.90 dollars", "\\$18.90"),
        ("\\sin 30^\\circ", "\\frac12"),
        ("52 base 8", "52_8"),
    },
    "marks between groups of digits": {
        ("1 234 567", "1234567"),
        ("1\\ 234", "1234"),
        ("1\\;234", "1234"),
        ("1\\!\\,234", "1234"),
    },
    "decimal coefficients": {("1.0x", "x")},
    "conditions": {
        ("x^2 \\text{ for } x > 0", "x^2"),
        ("f(x) = x^2 for all x", "x^2"),
        ("n = 3k, where k is an integer", "3k"),
        ("y = 2x + 1, x \\neq 3", "y=2x+1"),
    },
}


@cache
def parsed(latex: str) -> Any:
    return math_verify.parse(latex, fallback_mode="no_fallback", parsing_timeout=None)


def theirs(pred: str, gold: str) -> bool | None:
    """Return math-verify's verdict, ``None`` if it can't parse both."""
    marked = any(mark in pred for mark in ("$", "boxed", r"\(", r"\["))
    answer, reference = parsed(pred if marked else f"${pred}$"), parsed(f"${gold}$")
    if not answer or not reference:
        return None
    return math_verify.verify(reference, answer, timeout_seconds=None) is True


@pytest.fixture(autouse=True)
def quiet() -> Any:
    """It warns that it has no time limit, which it can't have in all threads."""
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


def test_references_of_math500(data_dir: Path) -> None:
    with (data_dir / "math500" / "test.jsonl").open(encoding="utf-8") as lines:
        answers = list(dict.fromkeys(json.loads(line)["answer"] for line in lines))[::STEP]
    pairs = [*zip(answers, answers, strict=True), *pairwise(answers)]
    evaluator = MathEvaluator()
    verdicts = [
        (pair, theirs(*pair), evaluator.score_sample(rf"\boxed{{{pair[0]}}}", pair[1])["correct"])
        for pair in pairs
    ]
    read = [verdict for verdict in verdicts if verdict[1] is not None]
    assert len(read) > 0.95 * len(pairs)
    assert [pair for pair, their, our in read if their != our] == []


def test_labelled_cases() -> None:
    path = Path(files.__file__).parent / "math_equal.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if row["kind"] not in ("explosive", "very-long", "delimiters")]
    labels = {(row["pred"], row["gold"]): row["right"] for row in rows}
    different = set().union(*DIFFERENCES.values())
    assert [pair for pair in different if theirs(*pair) is labels[pair]] == []
    rest = [pair for pair in labels if pair not in different][::STEP]
    assert [pair for pair in rest if theirs(*pair) is (not labels[pair])] == []
