"""Comparing Answers, with the values in them decided here or by algebra."""

from __future__ import annotations

__all__ = ["Algebra", "Comparison"]

import re
from collections.abc import Sequence
from typing import Protocol

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
from pytest_evalplug.evaluation.mathematics.exact import exact
from pytest_evalplug.evaluation.mathematics.expression import Node, variables
from pytest_evalplug.evaluation.mathematics.tokens import untokenize
from pytest_evalplug.evaluation.mathematics.units import DEGREE, PERCENT

_MAX_ITEMS = 30
_OPTION = re.compile(r"\(?([a-z])\)?")
_ARTICLES = re.compile(r"\b(?:a|an|the) (?=\S)")
_GENERIC = frozenset(("unit", DEGREE))
_ZERO = Node("number", ("0",))


class Algebra(Protocol):
    """What is asked when neither text nor exact fractions decide."""

    def same_value(self, a: Node, b: Node) -> bool:
        """Tell whether two expressions are equal for all values of their variables."""

    def multiples(self, a: Node, b: Node, *, positive: bool) -> bool:
        """Tell whether one expression is a constant, not zero, times the other."""

    def same_latex(self, gold: str, pred: str) -> bool:
        """Tell whether two formulas that could not be read here are equal."""


class Comparison:
    """Compares answers; ``method`` says what the last verdict took.

    ``text``, ``number`` (exact fractions) or ``symbolic`` (the algebra was asked).
    """

    def __init__(self, algebra: Algebra) -> None:
        self.algebra = algebra
        self.method = "text"

    def equal(self, gold: Answer, pred: Answer) -> bool:
        """Tell whether ``pred`` is right. Symmetric but for names: ``5`` answers ``x = 5``."""
        if gold.text and gold.text == pred.text:
            return True
        if isinstance(gold, Named) or isinstance(pred, Named):
            return self._named(gold, pred)
        if isinstance(gold, Relation) or isinstance(pred, Relation):
            return self._related(gold, pred)
        if isinstance(gold, Words) or isinstance(pred, Words):
            return _same_words(gold.text, pred.text)
        if isinstance(gold, Group) and isinstance(pred, Several):
            pred = _coordinates(pred)
        if isinstance(gold, Several) or isinstance(pred, Several):
            return self._several(gold, pred)
        if isinstance(gold, Based) or isinstance(pred, Based):
            return self._based(gold, pred)
        if isinstance(gold, Matrix) or isinstance(pred, Matrix):
            return self._matrices(gold, pred)
        if isinstance(gold, Group) and isinstance(pred, Group):
            alike = gold.brackets == pred.brackets or len(gold.items) > 2
            return alike and self._in_order(gold.items, pred.items)
        if isinstance(gold, Scalar) and isinstance(pred, Scalar):
            return self._scalars(gold, pred)
        return False

    def _named(self, gold: Answer, pred: Answer) -> bool:
        if isinstance(gold, Named) and isinstance(pred, Named):
            if gold.name == pred.name or (_is_output(gold.name) and _is_output(pred.name)):
                return self.equal(gold.value, pred.value)
            return self._equations(gold.relation, pred.relation)
        if isinstance(gold, Named):
            if isinstance(pred, Relation):
                return self._equations(gold.relation, pred)
            return self.equal(gold.value, pred)
        if isinstance(pred, Named):
            if isinstance(gold, Relation):
                return self._equations(gold, pred.relation)
            return self.equal(gold, pred.value)
        return False

    def _related(self, gold: Answer, pred: Answer) -> bool:
        if isinstance(gold, Relation):
            return isinstance(pred, Relation) and self._equations(gold, pred)
        if not isinstance(pred, Relation) or pred.op != "=" or pred.right.node is None:
            return False
        claims_a_value = not variables(pred.right.node) and pred.right.node != _ZERO
        return claims_a_value and self.equal(gold, pred.right)

    def _equations(self, gold: Relation | None, pred: Relation | None) -> bool:
        if gold is None or pred is None or gold.op != pred.op:
            return False
        a, b = _difference(gold), _difference(pred)
        if a is None or b is None or variables(a) != variables(b):
            return False
        self.method = "symbolic"
        return self.algebra.multiples(a, b, positive=gold.op != "=")

    def _several(self, gold: Answer, pred: Answer) -> bool:
        golds = gold.items if isinstance(gold, Several) else (gold,)
        preds = pred.items if isinstance(pred, Several) else (pred,)
        if max(len(golds), len(preds)) > _MAX_ITEMS:
            return sorted(g.text for g in golds) == sorted(p.text for p in preds)
        if any(isinstance(a, Several) and a.is_set for a in (gold, pred)):
            golds, preds = self._distinct(golds), self._distinct(preds)
        if len(golds) != len(preds):
            return False
        left = list(preds)
        for item in golds:
            match = next((i for i, other in enumerate(left) if self.equal(item, other)), None)
            if match is None:
                return False
            del left[match]
        return True

    def _distinct(self, items: Sequence[Answer]) -> tuple[Answer, ...]:
        kept: list[Answer] = []
        for item in items:
            if not any(self.equal(item, other) for other in kept):
                kept.append(item)
        return tuple(kept)

    def _based(self, gold: Answer, pred: Answer) -> bool:
        """Compare digits; a pred without a base is taken to be in the one asked for."""
        if isinstance(gold, Based) and isinstance(pred, Based):
            return (gold.digits, gold.base) == (pred.digits, pred.base)
        if isinstance(gold, Based):
            return pred.text == gold.digits
        return isinstance(pred, Based) and pred.base == 10 and pred.digits == gold.text

    def _matrices(self, gold: Answer, pred: Answer) -> bool:
        if any(isinstance(side, Scalar) for side in (gold, pred)):
            return self._latex(gold, pred)
        a, b = _rows(gold), _rows(pred)
        if list(map(len, a)) != list(map(len, b)):
            return False
        return bool(a) and all(map(self._in_order, a, b))

    def _in_order(self, golds: Sequence[Answer], preds: Sequence[Answer]) -> bool:
        return len(golds) == len(preds) and all(map(self.equal, golds, preds))

    def _scalars(self, gold: Scalar, pred: Scalar) -> bool:
        if gold.node is None or pred.node is None:
            return self._unread(gold, pred)
        if _clash(gold.unit, pred.unit):
            return False
        if self._nodes(gold.node, pred.node):
            return True
        if gold.unit == (PERCENT,) and not pred.unit:
            return self._nodes(_hundredth(gold.node), pred.node)
        if pred.unit == (PERCENT,) and not gold.unit:
            return self._nodes(gold.node, _hundredth(pred.node))
        return False

    def _nodes(self, a: Node, b: Node) -> bool:
        if a == b:
            return True
        exact_a, exact_b = exact(a), exact(b)
        if exact_a is not None and exact_b is not None:
            if self.method == "text":
                self.method = "number"
            return exact_a == exact_b
        self.method = "symbolic"
        return self.algebra.same_value(a, b)

    def _unread(self, gold: Scalar, pred: Scalar) -> bool:
        if _clash(gold.unit, pred.unit):
            return False
        return self._latex(gold, pred)

    def _latex(self, gold: Answer, pred: Answer) -> bool:
        a, b = _as_latex(gold), _as_latex(pred)
        if not a or not b:  # words within a formula: its text has been compared already
            return False
        self.method = "symbolic"
        return self.algebra.same_latex(a, b)


def _hundredth(node: Node) -> Node:
    return Node("/", (node, Node("number", ("100",))))


def _is_output(name: str) -> bool:
    return name == "y" or "(" in name


def _difference(relation: Relation) -> Node | None:
    left, right = relation.left.node, relation.right.node
    return None if left is None or right is None else Node("+", (left, Node("negative", (right,))))


def _as_latex(answer: Answer) -> str:
    r"""Return what another parser may read, ``""`` for what has text in it."""
    if isinstance(answer, Scalar):
        return answer.latex
    return untokenize(answer.text) if isinstance(answer, Matrix) else ""


def _rows(answer: Answer) -> tuple[tuple[Answer, ...], ...]:
    """Return rows of entries; coordinates in round brackets are a column."""
    if isinstance(answer, Matrix):
        return answer.rows
    if isinstance(answer, Group) and answer.brackets == "()":
        return tuple((item,) for item in answer.items)
    return ()


def _coordinates(several: Several) -> Answer:
    """Return ``x = 1, y = 2`` as the coordinates that it gives."""
    named = {item.name: item.value for item in several.items if isinstance(item, Named)}
    if len(named) < 2 or len(named) != len(several.items):
        return several
    return Group("", "()", tuple(named[name] for name in sorted(named)))


def _clash(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    """Tell whether both have a unit and they differ."""
    return bool(a and b) and a != b and not _GENERIC.intersection(a + b)


def _same_words(gold: str, pred: str) -> bool:
    """Compare words by their letters and digits; an option may be followed by what it says."""
    a, b = _bare(gold), _bare(pred)
    if a == b:
        return bool(a)
    option = _OPTION.fullmatch(gold.lower().strip())
    if option:
        letter = option[1]
        return re.match(rf"\(? ?{letter} ?[).:] ?", pred.lower().strip()) is not None
    return a in ("yes", "no", "true", "false") and pred.lower().split(",")[0].split(" ")[0] == a


def _bare(text: str) -> str:
    """Return the letters of a text without articles; with digits in it, every mark may count."""
    folded = _ARTICLES.sub("", text.casefold())
    letters = "".join(filter(str.isalnum, folded))
    return letters if letters.isalpha() else "".join(folded.split())
