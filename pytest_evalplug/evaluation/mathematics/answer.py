r"""Answers: what a formula says, as a value, a set, an interval, a matrix or words."""

from __future__ import annotations

__all__ = [
    "Answer",
    "Based",
    "Group",
    "Matrix",
    "Named",
    "Relation",
    "Scalar",
    "Several",
    "Words",
]

from dataclasses import dataclass

from pytest_evalplug.evaluation.mathematics.expression import Node


@dataclass(frozen=True, slots=True)
class Answer:
    """Any answer; ``text`` is the same for two that differ only in layout."""

    text: str


@dataclass(frozen=True, slots=True)
class Words(Answer):
    """Text: a name, yes or no, the letter of an option."""


@dataclass(frozen=True, slots=True)
class Scalar(Answer):
    """One value with its unit, ``()`` for none; ``node`` is ``None`` if it can't be read.

    ``latex`` is the value as another parser may read it, ``""`` if there is text in it.
    """

    node: Node | None
    unit: tuple[str, ...] = ()
    latex: str = ""


@dataclass(frozen=True, slots=True)
class Based(Answer):
    """Digits in a base that is written as their subscript."""

    digits: str
    base: int


@dataclass(frozen=True, slots=True)
class Group(Answer):
    """An ordered group: coordinates or an interval, which two look alike. ``brackets``: ``[)``."""

    brackets: str
    items: tuple[Answer, ...]


@dataclass(frozen=True, slots=True)
class Several(Answer):
    """Answers in any order: a list, or a set or union, in which repeats don't count."""

    items: tuple[Answer, ...]
    is_set: bool = False


@dataclass(frozen=True, slots=True)
class Matrix(Answer):
    """Rows of entries, whatever the brackets."""

    rows: tuple[tuple[Answer, ...], ...]


@dataclass(frozen=True, slots=True)
class Relation(Answer):
    """An equation or inequality; ``op`` is ``=``, ``<`` or ``<=``."""

    op: str
    left: Scalar
    right: Scalar


@dataclass(frozen=True, slots=True)
class Named(Answer):
    r"""A value or a range given to a name: ``x = 5``, ``f(x) = x^2``, ``x \in [0, 1]``."""

    name: str
    value: Answer
    relation: Relation | None = None
