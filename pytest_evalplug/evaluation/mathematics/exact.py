"""Rational numbers, exactly, where an expression is one."""

from __future__ import annotations

__all__ = ["exact"]

from fractions import Fraction
from math import comb, factorial, isqrt

from pytest_evalplug.evaluation.mathematics.expression import Node

_MAX_BITS = 50_000
_MAX_DIGITS = 4_000
_MAX_FACTORIAL = 3_000


class _NotRational(ArithmeticError):
    """The expression has no rational value, or one too large to write down."""


def exact(node: Node) -> Fraction | None:
    """Return the value of an expression without variables, ``None`` where that isn't rational.

    Never approximates. Values of more than 50,000 bits are ``None`` too, so that no power tower
    is ever computed.
    """
    try:
        return _value(node)
    except (_NotRational, ZeroDivisionError):
        return None


def _value(node: Node) -> Fraction:
    if node.op == "number":
        if len(str(node.args[0])) > _MAX_DIGITS:
            raise _NotRational
        return Fraction(str(node.args[0]))
    if node.op in ("variable", "constant"):
        raise _NotRational
    args = [_value(arg) for arg in node.args if isinstance(arg, Node)]
    value = _apply(node.op, args)
    if _bits(value) > _MAX_BITS:
        raise _NotRational
    return value


def _apply(op: str, args: list[Fraction]) -> Fraction:
    first, last = args[0], args[-1]
    if op == "+":
        return sum(args, Fraction(0))
    if op == "*":
        return _product(args)
    if op == "/":
        return first / last
    if op == "negative":
        return -first
    if op == "abs":
        return abs(first)
    if op == "floor":
        return Fraction(first.__floor__())
    if op == "ceiling":
        return Fraction(first.__ceil__())
    if op == "^":
        return _power(first, last)
    if op == "root":
        return _root(last, first)
    if op == "!" and first.denominator == 1 and 0 <= first <= _MAX_FACTORIAL:
        return Fraction(factorial(int(first)))
    whole = first.denominator == last.denominator == 1
    if op == "binomial" and whole and 0 <= last <= first <= _MAX_FACTORIAL:
        return Fraction(comb(int(first), int(last)))
    raise _NotRational


def _product(factors: list[Fraction]) -> Fraction:
    product = Fraction(1)
    for factor in factors:
        product *= factor
        if _bits(product) > _MAX_BITS:
            raise _NotRational
    return product


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    if exponent.denominator != 1:
        if base < 0:
            raise _NotRational
        return _power(_root(base, Fraction(exponent.denominator)), Fraction(exponent.numerator))
    if base == 0 and exponent == 0:
        raise _NotRational
    if abs(base) not in (0, 1) and _bits(base) * abs(exponent) > _MAX_BITS:
        raise _NotRational
    if abs(base) == 1:
        return base if exponent % 2 else Fraction(1)
    return base ** int(exponent) if base or exponent > 0 else _zero_division()


def _zero_division() -> Fraction:
    raise ZeroDivisionError


def _root(radicand: Fraction, degree: Fraction) -> Fraction:
    """Return the real root if it is rational."""
    n = int(degree)
    if degree != n or not 2 <= n <= 64:
        raise _NotRational
    if radicand < 0:
        if n % 2 == 0:
            raise _NotRational
        return -_root(-radicand, degree)
    return Fraction(_integer_root(radicand.numerator, n), _integer_root(radicand.denominator, n))


def _integer_root(value: int, n: int) -> int:
    if n == 2 or value == 0:
        root = isqrt(value)
    else:  # Newton's method, from above
        root = 1 << -(-value.bit_length() // n)
        while True:
            step = ((n - 1) * root + value // root ** (n - 1)) // n
            if step >= root:
                break
            root = step
    if root**n != value:
        raise _NotRational
    return root


def _bits(value: Fraction) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length())
