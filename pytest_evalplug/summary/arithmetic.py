"""Arithmetic in one variable ``x``, as a configuration may write it; nothing else is evaluated."""

from __future__ import annotations

__all__ = ["Expression"]

import ast
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from pytest_evalplug.errors import ConfigError, EvalplugError, nearest, one_line

_LONGEST = 500
_DEEPEST = 100
_ALLOWED = (
    "Allowed are x, numbers, + - * / ** %, parentheses and min, max, abs, round, sqrt, log, exp"
)

_BINARY: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.Mod: operator.mod,
}
_UNARY: dict[type[ast.unaryop], Callable[[float], float]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}


def _round(value: float, digits: float = 0.0) -> float:
    if not (digits.is_integer() and abs(digits) <= 400):
        raise ValueError("round() takes a whole number of digits")
    return round(value, int(digits))


_FUNCTIONS: MappingProxyType[str, tuple[Callable[..., float], int, float]] = MappingProxyType(
    {
        "min": (min, 2, math.inf),
        "max": (max, 2, math.inf),
        "abs": (abs, 1, 1),
        "round": (_round, 1, 2),
        "sqrt": (math.sqrt, 1, 1),
        "log": (math.log, 1, 2),
        "exp": (math.exp, 1, 1),
    }
)
"""Name -> function, and how few and how many arguments it takes."""

_Affine = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Expression:
    """A checked formula; call it with x.

    Numbers are floats, so that no power takes long. ``round`` rounds halves to even and ``%`` has
    the sign of the divisor, as in Python; ``log`` is natural unless a base follows.
    """

    text: str
    tree: ast.expr

    @classmethod
    def parse(cls, text: Any, *, where: str = "") -> Expression:
        """Read a formula. Raises ConfigError, which names what is not arithmetic in x."""
        if not isinstance(text, str):
            raise ConfigError(f"{text!r} is no formula", where=where, fix="Write text: 'x * 100'")
        try:
            if len(text) > _LONGEST:
                raise ConfigError(f"is longer than {_LONGEST} characters")
            tree = ast.parse(text.strip(), mode="eval").body
            _check(tree, _DEEPEST)
        except ConfigError as error:
            what = f"{one_line(text, 60)!r} is no formula: {error.what}"
            raise ConfigError(what, where=where, fix=error.fix or _ALLOWED) from None
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            what = f"{one_line(text, 60)!r} is no formula"
            raise ConfigError(what, where=where, fix=_ALLOWED) from None
        return cls(text, tree)

    def __call__(self, x: float) -> float:
        """Return the value at ``x``. Raises EvalplugError where there is no finite one."""
        try:
            value = _value(self.tree, float(x))
            if not math.isfinite(value):
                raise ValueError("the value is not finite")
        except ZeroDivisionError:
            why = "division by zero"
        except OverflowError:
            why = "the value is too large"
        except ValueError as error:
            why = str(error)
        else:
            return value
        raise EvalplugError(f"{one_line(self.text, 60)!r} has no value at x = {x:g}: {why}")

    def slope(self) -> float | None:
        """Return a where the formula is a * x + b and can be read as such, else None."""
        try:
            affine = _affine(self.tree)
        except (ArithmeticError, ValueError):
            return None
        return affine and affine[0]


def _check(node: ast.expr, depth: int) -> None:
    """Raise ConfigError for the first thing that is not in the language."""
    if depth == 0:
        raise ConfigError("it is nested too deeply")
    if isinstance(node, ast.BinOp):
        if type(node.op) not in _BINARY:
            raise ConfigError(f"{type(node.op).__name__} is not allowed")
        parts = [node.left, node.right]
    elif isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
        parts = [node.operand]
    elif isinstance(node, ast.Call):
        parts = _checked_call(node)
    else:
        return _check_leaf(node)
    for part in parts:
        _check(part, depth - 1)
    return None


def _check_leaf(node: ast.expr) -> None:
    if isinstance(node, ast.Name):
        if node.id != "x":
            raise ConfigError(f"unknown name {node.id!r}", fix=_ALLOWED)
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        # float() refuses an int of hundreds of digits, and reads 1e999 as infinity
        number: Any = node.value
        if abs(number) > 1e300:
            raise ConfigError("a number is too large")
    else:
        shown = ast.unparse(node)
        raise ConfigError(f"{one_line(shown, 40)!r} ({type(node).__name__}) is not allowed")


def _checked_call(node: ast.Call) -> list[ast.expr]:
    """Return the arguments of a call of one of the functions."""
    name = node.func.id if isinstance(node.func, ast.Name) else ast.unparse(node.func)
    if name not in _FUNCTIONS:
        raise ConfigError(f"unknown function {one_line(name, 40)!r}", fix=nearest(name, _FUNCTIONS))
    _, fewest, most = _FUNCTIONS[name]
    if node.keywords or not fewest <= len(node.args) <= most:
        bounds = {fewest: f"{fewest}", math.inf: f"{fewest} or more"}.get(most, "1 or 2")
        raise ConfigError(f"{name}() takes {bounds} argument{'' if most == 1 else 's'}")
    return node.args


def _value(node: ast.expr, x: float) -> float:
    if isinstance(node, ast.Name):
        return x
    if isinstance(node, ast.Constant):
        return float(node.value)  # type: ignore[arg-type]  # checked: an int or a float
    if isinstance(node, ast.UnaryOp):
        return _UNARY[type(node.op)](_value(node.operand, x))
    if isinstance(node, ast.Call):
        assert isinstance(node.func, ast.Name)
        return float(_FUNCTIONS[node.func.id][0](*(_value(part, x) for part in node.args)))
    assert isinstance(node, ast.BinOp)
    value: Any = _BINARY[type(node.op)](_value(node.left, x), _value(node.right, x))
    if isinstance(value, complex):
        raise ValueError("a root of a negative number")
    return float(value)


def _affine(node: ast.expr) -> _Affine | None:
    """Return (a, b) of a * x + b, None for anything else, also for what merely equals it."""
    if isinstance(node, ast.Name):
        return 1.0, 0.0
    if not any(isinstance(part, ast.Name) and part.id == "x" for part in ast.walk(node)):
        return 0.0, _value(node, 0.0)
    if isinstance(node, ast.UnaryOp):
        inner = _affine(node.operand)
        sign = -1.0 if isinstance(node.op, ast.USub) else 1.0
        return inner and (sign * inner[0], sign * inner[1])
    if not isinstance(node, ast.BinOp):
        return None
    left, right = _affine(node.left), _affine(node.right)
    if left is None or right is None:
        return None
    return _combined(node.op, left, right)


def _combined(op: ast.operator, left: _Affine, right: _Affine) -> _Affine | None:
    if isinstance(op, (ast.Add, ast.Sub)):
        sign = -1.0 if isinstance(op, ast.Sub) else 1.0
        return left[0] + sign * right[0], left[1] + sign * right[1]
    if isinstance(op, ast.Mult) and 0 in (left[0], right[0]):
        factor, other = (left[1], right) if left[0] == 0 else (right[1], left)
        return factor * other[0], factor * other[1]
    if isinstance(op, ast.Div) and right[0] == 0:
        return left[0] / right[1], left[1] / right[1]
    return None
