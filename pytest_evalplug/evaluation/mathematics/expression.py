r"""Expressions: one number or term, read strictly into a tree.

What the grammar does not know raises Unreadable: no part of an expression ever stands for the
whole.
"""

from __future__ import annotations

__all__ = ["Node", "read_expression", "variables"]

from collections.abc import Sequence
from typing import NamedTuple

from pytest_evalplug.evaluation.mathematics.tokens import FUNCTIONS, Token, Unreadable

_MAX_DEPTH = 150
"""Of calls, about five for each pair of brackets."""
_FUNCTIONS = frozenset(rf"\{name}" for name in FUNCTIONS)
_CONSTANTS = {r"\pi": "pi", r"\infty": "oo", "e": "e", "i": "i"}
_GREEK = frozenset(
    rf"\{name}"
    for name in [
        *("alpha", "beta", "gamma", "delta", "epsilon", "varepsilon", "zeta", "eta", "theta"),
        *("vartheta", "kappa", "lambda", "mu", "nu", "xi", "rho", "sigma", "tau", "phi", "chi"),
        *("psi", "omega", "Gamma", "Delta", "Theta", "Lambda", "Sigma", "Phi", "Psi", "Omega"),
        "ell",
    ]
)
_PAIRS = {"(": ")", "[": "]", "{": "}", r"\lfloor": r"\rfloor", r"\lceil": r"\rceil", "|": "|"}
_BRACKETS = {r"\lfloor": "floor", r"\lceil": "ceiling", "|": "abs"}


class Node(NamedTuple):
    """One operation and its arguments: nodes, or the text of a number or a name.

    ``number`` (``"0.5"``, ``"1/3"``), ``variable``, ``constant`` (pi, e, i, oo), ``+`` and ``*``
    (two or more), ``/``, ``^``, ``negative``, ``!``, ``root`` (degree, radicand), ``log`` (base,
    argument), ``binomial``, and the functions by their names.
    """

    op: str
    args: tuple[Node | str, ...]


def read_expression(tokens: Sequence[Token]) -> Node:
    """Return the tree of an expression that all the tokens make up, or raise Unreadable."""
    reader = _Reader(tokens)
    node = reader.whole()
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

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise Unreadable("too deep")

    def whole(self) -> Node:
        r"""A sum, or two that ``\over`` or ``\choose`` puts one above the other."""
        node = self.sum()
        op = {r"\over": "/", r"\choose": "binomial"}.get(self.peek() or "")
        if op is None:
            return node
        self.take()
        return Node(op, (node, self.sum()))

    def sum(self) -> Node:
        terms = [self.product()]
        while self.peek() in ("+", "-"):
            terms.append(self.product())
        return _joined("+", terms)

    def product(self) -> Node:
        """Factors, signs in front; what one division sign divides by is the next factor only."""
        negative = self.takes_minus()
        upper = [self.factor()]
        lower: list[Node] = []
        while True:
            if self.peek() in ("*", "/"):
                side = upper if self.take().value == "*" else lower
                side.append(self.signed_factor())
            elif not self.starts_factor():
                break
            elif self.kind() == "number" and not lower and upper[-1].op == "number":
                upper[-1] = self.mixed_number(upper[-1])
            else:
                upper.append(self.factor())
        node = _joined("*", upper)
        if lower:
            node = Node("/", (node, _joined("*", lower)))
        return Node("negative", (node,)) if negative else node

    def takes_minus(self) -> bool:
        """Take all signs, and tell whether they make a minus."""
        negative = False
        while self.peek() in ("+", "-"):
            negative ^= self.take().value == "-"
        return negative

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
        negative = self.takes_minus()
        node = self.factor()
        return Node("negative", (node,)) if negative else node

    def mixed_number(self, whole: Node) -> Node:
        """``1 1/2``; any other two numbers side by side make no sense."""
        upper = self.take().value
        self.take("/")
        lower = self.take()
        if not (str(whole.args[0]) + upper + lower.value).isdigit():
            raise Unreadable("two numbers side by side")
        return Node("+", (whole, Node("/", (_number(upper), _number(lower.value)))))

    def factor(self) -> Node:
        depth = self.depth
        node = self.primary()
        while self.peek() in ("!", "^"):
            self.deeper()
            if self.take().value == "!":
                node = Node("!", (node,))
            elif self.peek() == r"\circ" or self.peek(1) == r"\circ":
                node = self.in_degrees(node)
            else:
                node = Node("^", (node, self.exponent()))
        self.depth = depth
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
        if opening == "|":
            self.bars += 1
        else:
            self.bars, bars = 0, self.bars
        node = self.whole()
        self.bars = self.bars - 1 if opening == "|" else bars
        self.take(_PAIRS[opening])
        return Node(_BRACKETS[opening], (node,)) if opening in _BRACKETS else node

    def primary(self) -> Node:
        self.deeper()
        node = self.bare_primary()
        self.depth -= 1
        return node

    def bare_primary(self) -> Node:
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


def _joined(op: str, nodes: list[Node]) -> Node:
    return Node(op, tuple(nodes)) if len(nodes) > 1 else nodes[0]


def _number(digits: str) -> Node:
    return Node("number", (digits,))
