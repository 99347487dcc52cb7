from __future__ import annotations

import ast
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalplug.errors import ConfigError, EvalplugError
from pytest_evalplug.summary.arithmetic import Expression

NAMES: dict[str, Any] = {
    "min": min, "max": max, "abs": abs, "round": round,
    "sqrt": math.sqrt, "log": math.log, "exp": math.exp,
}  # fmt: skip


def numbers() -> st.SearchStrategy[str]:
    return st.one_of(
        st.just("x"),
        st.integers(0, 50).map(str),
        st.floats(0, 100, allow_nan=False).map(lambda value: f"{value:.3f}"),
    )


def combine(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    operators = st.sampled_from(["+", "-", "*", "/", "**", "%"])
    return st.one_of(
        st.tuples(inner, operators, inner).map(lambda parts: f"({' '.join(parts)})"),
        st.tuples(st.sampled_from("+-"), inner).map(lambda parts: f"({''.join(parts)})"),
        st.tuples(st.sampled_from(["abs", "round", "sqrt", "log", "exp"]), inner).map(
            lambda parts: f"{parts[0]}({parts[1]})"
        ),
        st.tuples(st.sampled_from(["min", "max"]), inner, inner).map(
            lambda parts: f"{parts[0]}({parts[1]}, {parts[2]})"
        ),
    )


formulas = st.recursive(numbers(), combine, max_leaves=8).filter(lambda text: len(text) <= 500)


class Floats(ast.NodeTransformer):
    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        assert isinstance(node.value, (int, float))
        return ast.copy_location(ast.Constant(float(node.value)), node)


def python_value(text: str, x: float) -> float | None:
    """Return what Python makes of floats, None where that is no finite number."""
    floats = Floats().visit(ast.parse(text, mode="eval"))
    try:
        value = eval(compile(floats, "", "eval"), {"__builtins__": {}, "x": x, **NAMES})
    except (ArithmeticError, ValueError, TypeError):
        return None
    return float(value) if not isinstance(value, complex) and math.isfinite(value) else None


def our_value(text: str, x: float) -> float | None:
    try:
        return Expression.parse(text)(x)
    except EvalplugError:
        return None


@given(formulas, st.floats(-100, 100))
def test_a_formula_has_pythons_value(text: str, x: float) -> None:
    assert our_value(text, x) == python_value(text, x)


@given(formulas, st.floats(-100, 100), st.floats(-100, 100))
def test_a_slope_is_that_of_a_line(text: str, x: float, y: float) -> None:
    slope = Expression.parse(text).slope()
    low, high = our_value(text, x), our_value(text, y)
    if slope is not None and low is not None and high is not None:
        scale = max(abs(low), abs(high), 1.0) * max(abs(slope), 1.0)
        assert high - low == pytest.approx(slope * (y - x), abs=1e-6 * scale)


@pytest.mark.parametrize(
    ("text", "slope"),
    [
        ("x", 1), ("7", 0), ("x * 100", 100), ("100 * x", 100), ("(x - 1) / 4 * 100", 25),
        ("-x + 7", -1), ("x * sqrt(4)", 2), ("x + x", 2), ("+x", 1), ("2 - x / 3", -1 / 3),
        ("x * x", None), ("1 / x", None), ("min(x, 1)", None), ("x ** 1", None), ("x % 2", None),
        ("x / 0", None), ("x * (1 / 0)", None),
    ],
)  # fmt: skip
def test_what_is_known_to_be_a_line(text: str, slope: float | None) -> None:
    assert Expression.parse(text).slope() == slope


@given(st.text(max_size=40), st.floats(allow_nan=True, allow_infinity=True))
def test_any_text_is_a_formula_or_refused(text: str, x: float) -> None:
    value = our_value(text, x)
    assert value is None or math.isfinite(value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("__import__('os').getpid()", r"""unknown function "__import__\('os'\).getpid\""""),
        ("eval('1')", "unknown function 'eval'"),
        ("mim(x, 1)", "unknown function 'mim'. Did you mean 'min'"),
        ("x.__class__", r"'x.__class__' \(Attribute\) is not allowed"),
        ("y * 2", "unknown name 'y'"),
        ("min", "unknown name 'min'"),
        ("'a'", r"\(Constant\) is not allowed"),
        ("True", r"'True' \(Constant\) is not allowed"),
        ("1j", r"\(Constant\) is not allowed"),
        ("x // 2", "FloorDiv is not allowed"),
        ("not x", r"'not x' \(UnaryOp\) is not allowed"),
        ("x if x else 1", r"\(IfExp\) is not allowed"),
        ("x < 1", r"\(Compare\) is not allowed"),
        ("[x][0]", r"\(Subscript\) is not allowed"),
        ("(lambda: x)()", "unknown function"),
        ("x(1)", "unknown function 'x'"),
        ("max(*[x, 1], 2)", r"\(Starred\) is not allowed"),
        ("min(x)", r"min\(\) takes 2 or more arguments"),
        ("abs(x, 2)", r"abs\(\) takes 1 argument\."),
        ("min(x, 1, key=2)", r"min\(\) takes"),
        ("x +", "'x \\+' is no formula. Allowed are x, numbers"),
        ("x\0", "is no formula"),
        ("", "'' is no formula"),
        ("9" * 400, "a number is too large"),
        ("1e999", "a number is too large"),
        ("x" + "+x" * 120, "nested too deeply"),
        ("-" * 400 + "x", "nested too deeply"),
        ("x" * 501, "longer than 500 characters"),
        (3, "3 is no formula"),
    ],
)
def test_anything_else_is_refused_by_name(text: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        Expression.parse(text, where="here")
    assert str(caught.value).startswith("here: ")


@pytest.mark.parametrize(
    ("text", "x", "why"),
    [
        ("10 / x", 0, "division by zero"),
        ("10 % x", 0, "division by zero"),
        ("x ** -1", 0, "division by zero"),
        ("9 ** 9 ** 9 ** x", 9, "the value is too large"),
        ("exp(x)", 1000, "the value is too large"),
        ("x * 1e300", 1e300, "the value is not finite"),
        ("(-x) ** 0.5", 4, "a root of a negative number"),
        ("sqrt(x)", -1, "math domain error|expected a nonnegative input"),
        ("round(x, 1.5)", 1, "round\\(\\) takes a whole number"),
        ("round(x, 1e9)", 1, "round\\(\\) takes a whole number"),
        ("x", math.nan, "the value is not finite"),
    ],
)
def test_without_a_finite_value_there_is_an_error(text: str, x: float, why: str) -> None:
    with pytest.raises(EvalplugError, match=rf"has no value at x = \S+: ({why})"):
        Expression.parse(text)(x)
