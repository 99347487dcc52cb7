r"""Expressions: one number or term, read strictly into a tree.

What the grammar does not know raises Unreadable: no part of an expression ever stands for the
whole.
"""

from __future__ import annotations

__all__ = ["Node", "read_expression", "variables"]

from collections.abc import Sequence
from typing import NamedTuple, Union

from pytest_evalplug.evaluation.mathematics.tokens import FUNCTIONS, Token, Unreadable

_MAX_DEPTH = 50
_FUNCTIONS = frozenset(rf"\{name}" for name in FUNCTIONS)
_CONSTANTS = {r"\pi": "pi", r"\infty": "oo", "e": "e", "i": "i"}
_GREEK = frozenset(
    rf"\{name}"
    for name in "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta kappa lambda mu"
    " nu xi rho sigma tau phi chi psi omega Gamma Delta Theta Lambda Sigma Phi Psi Omega ell".split()
)
_PAIRS = {"(": ")", "[": "]", "{": "}", r"\lfloor": r"\rfloor", r"\lceil": r"\rceil", "|": "|"}
_BRACKETS = {r"\lfloor": "floor", r"\lceil": "ceiling", "|": "abs"}


class Node(NamedTuple):
    """One operation and its arguments: nodes, or the text of a number or a name.

    ``number`` (``"0.5"``, ``"1/3"``), ``variable``, ``constant`` (pi, e, i, oo), ``+ - * / ^``,
    ``negative``, ``!``, ``root`` (degree, radicand), ``log`` (base, argument), ``binomial``, and
    the functions by their names.
    """

    op: str
    args: tuple[Union[Node, str], ...]  # noqa: UP007 - evaluated at run time on Python 3.10


def read_expression(tokens: Sequence[Token]) -> Node:
    """Return the tree of an expression that all the tokens make up, or raise Unreadable."""
    reader = _Reader(tokens)
    node = reader.sum()
    if reader.peek() is not None:
        raise Unreadable(f"unexpected {reader.peek()!r}")
    return node


def variables(node: Node) -> frozenset[str]:
    """Return the names of the variables in an expression."""
    if node.op == "variable":
        return frozenset([str(node.args[0])])
    return frozenset().union(*(variables(a) for a in node.args if isinstance(a, Node)))


class _Reader:
    """Recursive descent; juxtaposition multiplies, and a unary minus binds less than a power."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = list(reversed(tokens))
        self.depth = 0
        self.bars = 0

    def peek(self, ahead: int = 0) -> str | None:
        return self.tokens[-1 - ahead].value if len(self.tokens) > ahead else None

    def kind(self, ahead: int = 0) -> str | None:
        return self.tokens[-1 - ahead].kind if len(self.tokens) > ahead else None

    def take(self, value: str | None = None) -> Token:
        if not self.tokens or (value is not None and self.peek() != value):
            raise Unreadable(f"expected {value}")
        return self.tokens.pop()

    def sum(self) -> Node:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise Unreadable("too deep")
        node = self.product()
        while self.peek() in ("+", "-"):
            node = Node(self.take().value, (node, self.product()))
        self.depth -= 1
        return node

    def product(self) -> Node:
        signs = []
        while self.peek() in ("+", "-"):
            signs.append(self.take().value)
        node = self.factor()
        while True:
            if self.peek() in ("*", "/"):
                node = Node(self.take().value, (node, self.signed_factor()))
            elif self.starts_factor():
                if self.kind() == "number" and node.op == "number":
                    node = self.mixed_number(node)
                else:
                    node = Node("*", (node, self.factor()))
            else:
                break
        return Node("negative", (node,)) if signs.count("-") % 2 else node

    def starts_factor(self) -> bool:
        value, kind = self.peek(), self.kind()
        if value is None or kind == "text":
            return False
        if value == "|":
            return self.bars == 0
        return kind in ("number", "letter") or (
            value in _PAIRS
            or value in _CONSTANTS
            or value in _GREEK
            or value in _FUNCTIONS
            or value in (r"\frac", r"\sqrt", r"\binom")
        )

    def signed_factor(self) -> Node:
        if self.peek() in ("+", "-"):
            sign = self.take().value
            node = self.signed_factor()
            return Node("negative", (node,)) if sign == "-" else node
        return self.factor()

    def mixed_number(self, whole: Node) -> Node:
        """``1 1/2``; any other two numbers side by side make no sense."""
        upper = self.take().value
        self.take("/")
        lower = self.take()
        if not (str(whole.args[0]) + upper + lower.value).isdigit():
            raise Unreadable("two numbers side by side")
        return Node("+", (whole, Node("/", (_number(upper), _number(lower.value)))))

    def factor(self) -> Node:
        node = self.primary()
        while self.peek() in ("!", "^"):
            if self.take().value == "!":
                node = Node("!", (node,))
            elif self.peek() == r"\circ" or self.peek(1) == r"\circ":
                node = self.in_degrees(node)
            else:
                node = Node("^", (node, self.exponent()))
        return node

    def in_degrees(self, node: Node) -> Node:
        braced = self.peek() == "{"
        for value in ("{", r"\circ", "}") if braced else (r"\circ",):
            self.take(value)
        return Node("*", (node, Node("/", (Node("constant", ("pi",)), _number("180")))))

    def exponent(self) -> Node:
        return self.group() if self.peek() == "{" else self.signed_factor()

    def group(self) -> Node:
        opening = self.take().value
        self.depth += 1
        if opening == "|":
            self.bars += 1
        else:
            self.bars, bars = 0, self.bars
        node = self.sum()
        self.bars = self.bars - 1 if opening == "|" else bars
        self.take(_PAIRS[opening])
        self.depth -= 1
        return Node(_BRACKETS[opening], (node,)) if opening in _BRACKETS else node

    def primary(self) -> Node:
        value, kind = self.peek(), self.kind()
        if value is None or kind == "text":
            raise Unreadable(f"unexpected {value!r}")
        if value in _PAIRS:
            return self.group()
        self.take()
        if kind == "number":
            return self.number(value)
        if value in _CONSTANTS and self.peek() != "_":
            return Node("constant", (_CONSTANTS[value],))
        if kind == "letter" or value in _GREEK:
            return Node("variable", (value + self.subscript(),))
        if value == r"\frac":
            return Node("/", (self.argument(), self.argument()))
        if value == r"\binom":
            return Node("binomial", (self.argument(), self.argument()))
        if value == r"\sqrt":
            return self.root()
        if value in _FUNCTIONS:
            return self.function(value[1:])
        raise Unreadable(f"unknown {value!r}")

    def number(self, value: str) -> Node:
        r"""A number, or a mixed number such as ``2\frac{1}{3}``."""
        if self.peek() == "_":
            raise Unreadable("a number in another base")
        node = _number(value)
        if self.peek() == r"\frac" and value.isdigit():
            saved = list(self.tokens)
            self.take()
            upper, lower = self.argument(), self.argument()
            fraction = Node("/", (upper, lower))
            if upper.op == lower.op == "number" and self.peek() != "^":
                return Node("+", (node, fraction))
            self.tokens = saved
        return node

    def subscript(self) -> str:
        name = ""
        while self.peek() in ("_", "'"):
            if self.take().value == "'":
                name += "'"
            elif self.peek() == "{":
                self.take()
                name += "_"
                while self.peek() != "}":
                    name += self.take().value
                self.take()
            else:
                name += "_" + self.take().value
        return name

    def argument(self) -> Node:
        r"""What follows a macro: a group, or one token, of a number one digit (``\frac43``)."""
        if self.peek() == "{":
            return self.group()
        if self.kind() == "number" and "/" not in str(self.peek()):
            digits = self.take().value
            if digits[1:]:
                self.tokens.append(Token("number", digits[1:]))
            return _number(digits[0])
        return self.primary()

    def root(self) -> Node:
        degree = _number("2")
        if self.peek() == "[":
            degree = self.group()
        if self.peek() in ("{", "("):
            return Node("root", (degree, self.group()))
        return Node("root", (degree, self.primary()))

    def function(self, name: str) -> Node:
        base = Node("constant", ("e",)) if name == "ln" else _number("10")
        power = None
        while self.peek() in ("^", "_"):
            if self.take().value == "^":
                power = self.exponent()
            else:
                base = self.argument()
        node = self.function_argument()
        if name in ("log", "ln", "lg"):
            node = Node("log", (base, node))
        elif power == Node("negative", (_number("1"),)):
            return Node("arc" + name, (node,))
        else:
            node = Node(name, (node,))
        return node if power is None else Node("^", (node, power))

    def function_argument(self) -> Node:
        """A bracket, or all factors up to the next sign or function (``sin 2x``)."""
        if self.peek() in ("(", "[", "{"):
            return self.group()
        node = self.factor()
        while self.starts_factor() and self.peek() not in _FUNCTIONS and self.peek() != "(":
            node = Node("*", (node, self.factor()))
        return node


def _number(digits: str) -> Node:
    return Node("number", (digits,))
