from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_evalplug.evaluation.mathematics.exact import exact
from pytest_evalplug.evaluation.mathematics.expression import Node, read_expression, variables
from pytest_evalplug.evaluation.mathematics.tokens import Unreadable, tokenize


def read(latex: str) -> Node:
    return read_expression(tokenize(latex))


@pytest.mark.parametrize(
    ("latex", "value"),
    [
        (r"\frac43", Fraction(4, 3)),
        (r"\frac 59", Fraction(5, 9)),
        (r"\frac{270}7", Fraction(270, 7)),
        (r"\frac1{72}", Fraction(1, 72)),
        (r"2\frac13", Fraction(7, 3)),
        (r"-2\frac13", Fraction(-7, 3)),
        (r"137 \frac{1}{2}", Fraction(275, 2)),
        ("1 1/2", Fraction(3, 2)),
        ("-3^2", -9),
        ("(-3)^2", 9),
        ("2^{3^2}", 512),
        ("2^10", 1024),
        ("10^{-3}", Fraction(1, 1000)),
        ("8^{1/3}", 2),
        (r"\sqrt[3]{27}", 3),
        (r"\sqrt[3]{-8}", -2),
        (r"\sqrt{\frac{9}{4}}", Fraction(3, 2)),
        (r"\sqrt 16", 4),
        ("6/2*3", 9),
        ("1/2/2", Fraction(1, 4)),
        ("2(3+4)", 14),
        ("--7", 7),
        ("2*-3", -6),
        ("|3-5|", 2),
        ("||1|-3|", 2),
        (r"\lfloor -2.5 \rfloor", -3),
        (r"\lceil 2.5 \rceil", 3),
        ("5!", 120),
        (r"\binom{5}{2}", 10),
        (r"{5 \choose 2}", 10),
        (r"{1 \over 2}", Fraction(1, 2)),
        (r"0.\overline{3}", Fraction(1, 3)),
        (".5", Fraction(1, 2)),
        ("0^0", None),
        ("1/0", None),
        ("0^{-1}", None),
        (r"\sqrt{2}", None),
        (r"\sqrt{-4}", None),
        ("x", None),
        (r"\pi", None),
        ("10^{10^{10}}", None),
        ("(2^{40000})(2^{40000})", None),
        ("1000000!", None),
        ("2.5!", None),
    ],
)
def test_exact_values(latex: str, value: Fraction | None) -> None:
    assert exact(read(latex)) == value


@pytest.mark.parametrize(
    "latex",
    [
        *("", "+", "2 3", "(1", "1)", "x=", r"\foo", r"2+\foo{3}", r"5 \text{ cm}", "52_8", "1,2"),
        *(r"\frac{1}", r"\sqrt", "|x", "{x", "x^", r"\int x", "(1]", "!" * 300, "2^" * 300 + "2"),
    ],
)
def test_what_is_not_understood_is_refused_whole(latex: str) -> None:
    with pytest.raises(Unreadable):
        read(latex)


@pytest.mark.parametrize(
    ("latex", "names"),
    [
        ("2ab", {"a", "b"}),
        ("x_1 + x_{12}", {"x_1", "x_12"}),
        ("f'", {"f'"}),
        (r"\theta + e + i + \pi", {r"\theta"}),
        (r"\sin x \cos y", {"x", "y"}),
        (r"R^2 r", {"R", "r"}),
    ],
)
def test_variables(latex: str, names: set[str]) -> None:
    assert variables(read(latex)) == names


def test_a_function_takes_the_factors_that_follow_it() -> None:
    assert read(r"\sin 2x + 1") == read(r"\sin(2x) + 1")
    assert read(r"\sin x \cos x") == read(r"\sin(x)\cos(x)")
    assert read(r"\sin^2 x") == read(r"(\sin x)^2")
    assert read(r"\sin^{-1} x") == read(r"\arcsin x")
    assert read(r"\sin(x) y") != read(r"\sin(xy)")


sums = st.recursive(
    st.integers(0, 99).map(lambda n: (str(n), Fraction(n))),
    lambda inner: st.tuples(inner, st.sampled_from("+-*"), inner).map(
        lambda t: (
            f"({t[0][0]}) {t[1]} ({t[2][0]})",
            {"+": t[0][1] + t[2][1], "-": t[0][1] - t[2][1], "*": t[0][1] * t[2][1]}[t[1]],
        )
    ),
    max_leaves=8,
)


@settings(deadline=None)
@given(sums)
def test_arithmetic_agrees_with_fractions(case: tuple[str, Fraction]) -> None:
    latex, value = case
    assert exact(read(latex)) == value


@settings(deadline=None)
@given(st.integers(0, 10**12), st.integers(2, 6))
def test_roots_of_powers_are_exact(base: int, degree: int) -> None:
    assert exact(read(rf"\sqrt[{degree}]{{{base**degree}}}")) == base
    assert exact(read(rf"\sqrt[{degree}]{{{base**degree + 1}}}")) == (1 if base == 0 else None)
