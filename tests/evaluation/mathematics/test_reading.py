from __future__ import annotations

from typing import Any

import pytest

from pytest_evalplug.evaluation.mathematics.answer import (
    Answer,
    Based,
    Group,
    Matrix,
    Named,
    Relation,
    Scalar,
    Several,
    Words,
)
from pytest_evalplug.evaluation.mathematics.reading import read_answer


def shown(answer: Answer) -> Any:
    """Return an answer as plain nested data."""
    if isinstance(answer, Named):
        return {answer.name: shown(answer.value)}
    if isinstance(answer, Several):
        return (set if answer.is_set else list)(map(shown, answer.items))
    if isinstance(answer, Group):
        return (answer.brackets, *map(shown, answer.items))
    if isinstance(answer, Matrix):
        return [tuple(map(shown, row)) for row in answer.rows]
    if isinstance(answer, Relation):
        return (shown(answer.left), answer.op, shown(answer.right))
    if isinstance(answer, Based):
        return (answer.digits, answer.base)
    if isinstance(answer, Scalar) and answer.node is not None and answer.unit:
        return (answer.text, *answer.unit)
    return answer.text


@pytest.mark.parametrize(
    ("latex", "expected"),
    [
        ("5", "5"),
        ("3, 5, 7", ["3", "5", "7"]),
        ("1, 2, and 3", ["1", "2", "3"]),
        (r"\{1,2\}", {"1", "2"}),
        (r"\emptyset", set()),
        (r"\{ \}", set()),
        ("no solution", set()),
        ("(1,2)", ("()", "1", "2")),
        ("[2,5)", ("[)", "2", "5")),
        (r"\langle 1,2\rangle", ("()", "1", "2")),
        (r"(0,1)\cup[2,3]", {("()", "0", "1"), ("[]", "2", "3")}),
        (r"\pm 3", ["+ 3", "- 3"]),
        (r"2, \pm 3", ["2", "+ 3", "- 3"]),
        (r"x = \pm 3", {"x": ["+ 3", "- 3"]}),
        ("x=5", {"x": "5"}),
        ("5=x", {"x": "5"}),
        ("f(x) = 2x", {"f ( x )": "2 x"}),
        ("P(2,3)", {"P": ("()", "2", "3")}),
        (r"2k\pi (k > 0)", r"2 k \pi ( k > 0 )"),
        ("x=3或x=-3", [{"x": "3"}, {"x": "- 3"}]),
        ("12 km/h", ("12 km / h", "km")),
        (r"\text{5 cm}", ("5 cm", "cm")),
        (r"101_{\text{two}}", ("101", 2)),
        ("1a_{16}", ("1A", 16)),
        (r"A = \pi r^2 = 25\pi", {"A": r"25 \pi"}),
        ("x+y=5", ("x + y", "=", "5")),
        (r"x+y \ge 5", ("5", "<=", "x + y")),
        (r"x \in [0,1]", {"x": ("[]", "0", "1")}),
        ("x > 2", {"x": ("()", "2", "")}),
        (r"1 < x \le 2", {"x": ("(]", "1", "2")}),
        (r"\{x : x > 2\}", {"x": ("()", "2", "")}),
        (r"\begin{pmatrix}1&2\\3&4\\\end{pmatrix}", [("1", "2"), ("3", "4")]),
        (r"\left[\begin{array}{cc}1&2\\3&4\end{array}\right]", [("1", "2"), ("3", "4")]),
        ("12_8", ("12", 8)),
        ("1A_{16}", ("1A", 16)),
        (r"90^\circ", (r"90 ^ \circ", "degree")),
        (r"3^{2}^\circ", (r"3 ^ { 2 } ^ \circ", "degree")),
        (r"\$18.90", ("$ 18.90", "dollar")),
        (r"15\mbox{ cm}^2", ("15 cm ^ 2", "cm", "square")),
        ("12 square inches", ("12 square inches", "in", "square")),
        (r"50\%", ("50 %", "percent")),
        (r"\text{(C)}", "(c)"),
        ("Sunday", "Sunday"),
        (r"x^2 \text{ for all } x", r"x ^ 2 for all x"),
        (r"2k, k \in \mathbb{Z}", "2 k , k \\in \\mathbb:Z"),
        (r"\boxed{5}.", "{ 5 } ."),
    ],
)
def test_answers(latex: str, expected: Any) -> None:
    assert shown(read_answer(latex)) == expected


@pytest.mark.parametrize(
    "latex", ["2k", "5x", "3R^2", "12m", r"x^2 \text{ for all } x", r"2k, k \in \mathbb{Z}", "{5}."]
)
def test_values_without_unit(latex: str) -> None:
    answer = read_answer(latex)
    assert isinstance(answer, Scalar)
    assert answer.node is not None
    assert answer.unit == ()


@pytest.mark.parametrize(
    "latex",
    [r"5 \text{ feet } 3", r"2\text{ times }3", r"\int_0^1 x", "x < 1 > 2", "5 =", r"\foo 5"],
)
def test_unread_values(latex: str) -> None:
    answer = read_answer(latex)
    assert isinstance(answer, Scalar)
    assert answer.node is None


@pytest.mark.parametrize("latex", ["(" * 100, "7" * 100_000])
def test_what_is_too_large_is_text(latex: str) -> None:
    assert read_answer(latex) == Words(latex)
