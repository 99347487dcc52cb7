"""The bundled demo sets are right: answers recomputed, letters balanced, nothing twice."""

from __future__ import annotations

import ast
import json
import operator
import re
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).resolve().parents[2] / "benchmarks" / "data"
OPERATORS: dict[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


STEP = re.compile(r"(-?[\d.]+(?: [-+*/] [\d.]+)+) = (-?\d+(?:\.\d+)?)")


def rows(name: str, split: str) -> list[dict[str, Any]]:
    text = (DATA / name / f"{split}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def compute(expression: str) -> Fraction:
    def value(node: ast.expr) -> Fraction:
        if isinstance(node, ast.BinOp):
            return OPERATORS[type(node.op)](value(node.left), value(node.right))
        if isinstance(node, ast.UnaryOp):
            return -value(node.operand)
        assert isinstance(node, ast.Constant)
        # from the source text: 0.1 is a tenth here
        return Fraction(ast.get_source_segment(expression, node) or "")

    return value(ast.parse(expression, mode="eval").body)


def test_compute_is_exact() -> None:
    assert compute("(0.1 + 0.2) * 10 - 4 / 8") == Fraction(5, 2)


@pytest.mark.parametrize("split", ["test", "train"])
def test_math_answers_are_what_their_expressions_give(split: str) -> None:
    for row in rows("demo_math", split):
        assert compute(row["expression"]) == Fraction(row["answer"]), row["id"]


def test_math_solutions_state_their_answer() -> None:
    for row in rows("demo_math", "train"):
        number = row["answer"].rstrip("0").rstrip(".") if "." in row["answer"] else row["answer"]
        assert f" {number} " in row["solution"], row["id"]


def test_math_steps_of_the_solutions_hold() -> None:
    for row in rows("demo_math", "train"):
        steps = STEP.findall(row["solution"])
        assert steps, row["id"]
        for left, right in steps:
            assert compute(left) == Fraction(right), row["id"]


def test_math_answers_vary() -> None:
    answers = [row["answer"] for row in rows("demo_math", "test")]
    assert len(answers) >= 64
    assert Counter(answers).most_common(1)[0][1] <= 4, (
        "a constant answer must score next to nothing"
    )
    assert any(a.startswith("-") for a in answers)
    assert any("." in a for a in answers)
    assert "0" in answers


@pytest.mark.parametrize("split", ["test", "train"])
def test_letters_are_evenly_distributed(split: str) -> None:
    letters = Counter(row["answer"] for row in rows("demo_knowledge", split))
    assert set(letters) == set("ABCD")
    assert len(set(letters.values())) == 1


def test_choices_are_four_and_different() -> None:
    for row in rows("demo_knowledge", "test") + rows("demo_knowledge", "train"):
        assert len({choice.casefold() for choice in row["choices"]}) == 4, row["id"]


@pytest.mark.parametrize("name", ["demo_math", "demo_knowledge"])
def test_nothing_is_there_twice(name: str) -> None:
    every = rows(name, "test") + rows(name, "train")
    assert len(rows(name, "test")) >= 64
    for column in ("id", "question"):
        repeated = [v for v, n in Counter(row[column] for row in every).items() if n > 1]
        assert not repeated


@pytest.mark.parametrize("name", ["demo_math", "demo_knowledge"])
def test_every_question_is_clean_text(name: str) -> None:
    for row in rows(name, "test") + rows(name, "train"):
        question = row["question"]
        assert question == " ".join(question.split()), row["id"]
        assert question.endswith("?"), row["id"]
        assert question.isascii(), row["id"]
