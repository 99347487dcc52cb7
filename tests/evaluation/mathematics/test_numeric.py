from __future__ import annotations

import pytest

from pytest_evalplug.evaluation.mathematics.expression import read_expression
from pytest_evalplug.evaluation.mathematics.numeric import (
    TooLarge,
    are_multiples,
    have_same_value,
)
from pytest_evalplug.evaluation.mathematics.tokens import tokenize

ROOT_TWO = "1.4142135623730950488016887242096980785696718753769480731766797379907324784621"


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("(x+1)^2", "x^2+2x+1", True),
        ("(x+1)^2", "x^2+1", False),
        (r"\sqrt{x^2}", "x", False),
        (r"\sqrt{x^2}", "|x|", True),
        (r"\sqrt[3]{x}", "x^{1/3}", True),
        (r"\frac{x^2-1}{x-1}", "x+1", True),
        (r"\sqrt{2}", ROOT_TWO, False),
        (r"\pi", "3.14159265358979323846264338327950288419716939937510582097494459", False),
        (r"\infty", r"-\infty", False),
        (r"\infty", r"2\infty", True),
        (r"\frac{1}{0}", r"\frac{1}{0}", False),
        (r"\log_2 8", "3", True),
        (r"\log 100", "2", True),
        (r"\ln e^2", "2", True),
        ("e^{i\\pi}", "-1", True),
        ("n!", "n(n-1)!", True),
        ("R", "r", False),
        ("10^{1000}", "10^{1000}+1", False),
        ("2^{1000}x", "4^{500}x", True),
        ("2^{1000}x", "4^{500}x+1", False),
    ],
)
def test_values(a: str, b: str, same: bool) -> None:
    left, right = read_expression(tokenize(a)), read_expression(tokenize(b))
    assert have_same_value(left, right) is same
    assert have_same_value(right, left) is same


@pytest.mark.parametrize(
    ("a", "b", "positive", "expected"),
    [
        ("3x-y+13", "6x-2y+26", False, True),
        ("3x-y+13", "y-3x-13", False, True),
        ("3x-y+13", "y-3x-13", True, False),
        ("3x-y+13", "3x-y+14", False, False),
        ("x-5", "y-5", False, False),
        ("0", "x", False, False),
    ],
)
def test_multiples(a: str, b: str, positive: bool, expected: bool) -> None:
    left, right = read_expression(tokenize(a)), read_expression(tokenize(b))
    assert are_multiples(left, right, positive=positive) is expected


@pytest.mark.parametrize(
    "huge",
    [
        "9^{9^{9^9}}",
        "10^{-10^{10}}",
        r"\sin(10^{10^5})",
        r"(10^9)!",
        r"\binom{10^9}{7}",
        "10^{90000}",
    ],
)
def test_what_is_too_large_is_not_computed(huge: str) -> None:
    with pytest.raises(TooLarge):
        have_same_value(read_expression(tokenize(huge)), read_expression(tokenize("1")))
