"""Whether a reply holds the reference."""

from __future__ import annotations

__all__ = ["IncludesEvaluator", "includes"]

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar

from pytest_evalplug.evaluation.evaluators.reference import MatchEvaluator
from pytest_evalplug.evaluation.registry import evaluators
from pytest_evalplug.evaluation.textnorm import normalize_answer, tokens

_SIGNS = r"[^\w\s.&'’\-\u2010-\u2015]+"
_GLUE = re.compile(
    rf"(?<=[^\W\d]){_SIGNS}(?=\w)|(?<=\w){_SIGNS}(?=[^\W\d])|(?<=\d)[+<=>]+|[+<=>]+(?=\d)"
)
"""What alone keeps words apart in ``yes/no``, ``50+``; nothing does in ``3/4``, ``AT&T``."""


def includes(pred: str, references: Sequence[str]) -> bool:
    """Tell whether a reference occurs in ``pred`` as whole words or whole numbers.

    Both go through :func:`normalize_answer`; in Chinese any run of characters counts. Words that
    only a sign keeps apart (``Answer:Paris``) are words. An empty reference occurs only in an
    empty text.
    """
    return any(_holds(pred, references, form) for form in (normalize_answer, _normalize_parts))


def _normalize_parts(text: str) -> str:
    return normalize_answer(_GLUE.sub(" ", text))


def _holds(pred: str, references: Sequence[str], form: Callable[[str], str]) -> bool:
    whole = tokens(form(pred))
    parts = (tokens(form(reference)) for reference in references)
    return any(_spaced(part) in _spaced(whole) if part else not whole for part in parts)


def _spaced(words: Sequence[str]) -> str:
    return f" {' '.join(words)} "


@evaluators.register("includes", "IncludesEvaluator")
class IncludesEvaluator(MatchEvaluator):
    """Right if a reference, or any of them, occurs in the pred (:func:`includes`).

    Metric: ``includes``, percent. Source: ``includes`` of OpenAI's evals and of Inspect, here by
    words, so that ``no`` isn't found in ``know``.
    """

    metric: ClassVar[str] = "includes"
    scale: ClassVar[Mapping[str, float]] = MappingProxyType({"includes": 100.0})

    def matches(self, pred: Any, references: Sequence[Any]) -> bool:
        """Look for each reference."""
        return includes(str(pred), [str(r) for r in references])
