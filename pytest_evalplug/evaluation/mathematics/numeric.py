"""Equality of expressions by their values, to many digits at random points.

Two analytic expressions that agree at a random point are the same but for a set of measure zero
(the argument of Schwartz 1980 and Zippel 1979 for polynomials); the points have both signs, so
that ``sqrt(x^2)`` is not ``x``. Runs in the worker only: needs mpmath.
"""

from __future__ import annotations

__all__ = ["TooLarge", "are_multiples", "have_same_value"]

import random
from collections.abc import Iterator, Mapping
from typing import Any

import mpmath

from pytest_evalplug.evaluation.mathematics.exact import exact
from pytest_evalplug.evaluation.mathematics.expression import Node, variables

_DIGITS = 60
"""Correct digits, besides those of the numbers written out: no rounding passes for equal."""
_GUARD = 25
"""Of these, the last ones that may differ."""
_MAX_POWER = 1_000_000
_MAX_ARGUMENT = 10_000
_MAX_SIZE = 5_000
"""Digits before the point up to which values are told apart."""


class TooLarge(ArithmeticError):
    """A value that is too large to compute."""


def have_same_value(a: Node, b: Node) -> bool:
    """Tell whether two expressions agree wherever both are defined; raises TooLarge."""
    judged = False
    for x, y, slack in _values(a, b):
        finite = mpmath.isfinite(x) and mpmath.isfinite(y)
        if abs(x - y) > slack if finite else x != y:
            return False
        judged = True
    return judged


def are_multiples(a: Node, b: Node, *, positive: bool) -> bool:
    """Tell whether ``a / b`` is one number, not zero, everywhere; raises TooLarge."""
    ratio = None
    for x, y, slack in _values(a, b):
        if not x or not y:
            return False
        if ratio is not None and abs(x / y - ratio) > slack * abs(ratio):
            return False
        ratio = x / y
    return ratio is not None and (not positive or (not mpmath.im(ratio) and ratio > 0))


def _values(a: Node, b: Node) -> Iterator[tuple[Any, Any, Any]]:
    """Yield both values at a few points where they are defined, and by what they may differ."""
    names = sorted(variables(a) | variables(b))
    points = random.Random(0)
    digits = _DIGITS + _literal_digits(a) + _literal_digits(b)
    for sign in (1, -1, None, None, None) if names else (1,):
        with mpmath.workdps(digits):
            point = {n: _coordinate(points, sign) for n in names}
            try:
                pair = _precise(a, b, point)
            except (ZeroDivisionError, ValueError):
                continue
            if not any(mpmath.isnan(value) for value in pair):
                yield *pair, mpmath.mpf(10) ** (_GUARD - digits)


def _precise(a: Node, b: Node, point: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return both values, with as many digits after the point however large they are."""
    x, y = _evaluate(a, point), _evaluate(b, point)
    largest = max(abs(x), abs(y))
    if largest <= 10 or not mpmath.isfinite(largest):
        return x, y
    size = int(mpmath.log10(largest)) + 1
    if size > _MAX_SIZE:
        raise TooLarge
    with mpmath.workdps(mpmath.mp.dps + size):
        return _evaluate(a, point), _evaluate(b, point)


def _coordinate(points: random.Random, sign: int | None) -> Any:
    size = mpmath.mpf(points.randrange(10**20, 4 * 10**20)) / 10**20
    return size * (sign or points.choice((1, -1)))


def _literal_digits(node: Node) -> int:
    texts = (len(a) if isinstance(a, str) else _literal_digits(a) for a in node.args)
    return sum(texts) if node.op != "variable" else 0


def _evaluate(node: Node, point: Mapping[str, Any]) -> Any:
    if node.op == "number":
        upper, _, lower = str(node.args[0]).partition("/")
        return mpmath.mpf(upper) / mpmath.mpf(lower or 1)
    if node.op == "variable":
        return point[str(node.args[0])]
    if node.op == "constant":
        return _constant(str(node.args[0]))
    children = [arg for arg in node.args if isinstance(arg, Node)]
    args = [_evaluate(child, point) for child in children]
    first, last = args[0], args[-1]
    if node.op == "+":
        return mpmath.fsum(args)
    if node.op == "*":
        return mpmath.fprod(args)
    if node.op == "/":
        return first / last
    if node.op == "^":
        return _power(first, last, children[1])
    if node.op == "root":
        return _power(last, 1 / first, Node("/", (Node("number", ("1",)), children[0])))
    return _function(node.op, first, last)


def _constant(name: str) -> Any:
    return {"pi": +mpmath.pi, "e": +mpmath.e, "i": mpmath.mpc(0, 1), "oo": mpmath.inf}[name]


def _power(base: Any, exponent: Any, exponent_node: Node) -> Any:
    """Return a power, a real root of a negative number where there is one."""
    finite = base and mpmath.isfinite(base) and mpmath.isfinite(exponent)
    if finite and abs(exponent) * max(1, abs(mpmath.log(abs(base)))) > _MAX_POWER:
        raise TooLarge
    real = not mpmath.im(base) and mpmath.re(base) < 0
    fraction = exact(exponent_node) if real else None
    if fraction is not None and fraction.denominator % 2 and fraction.denominator > 1:
        size = mpmath.power(-base, exponent)
        return -size if fraction.numerator % 2 else size
    return mpmath.power(base, exponent)


def _function(name: str, first: Any, last: Any) -> Any:
    if name == "negative":
        return -first
    if name == "abs":
        return abs(first)
    if abs(first) > _MAX_ARGUMENT or abs(last) > 10**_MAX_ARGUMENT:
        raise TooLarge
    if name == "log":
        return mpmath.log(last) / mpmath.log(first)
    if name == "!":
        return mpmath.factorial(first)
    if name == "binomial":
        return mpmath.binomial(first, last)
    names = {"floor": "floor", "ceiling": "ceil"}
    return getattr(mpmath, names.get(name, name.replace("arc", "a")))(first)
