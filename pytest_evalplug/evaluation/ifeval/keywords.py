"""Instructions ``keywords:...``: words that have to stand in the reply or must not; no case."""

from __future__ import annotations

__all__ = ["existence", "forbidden_words", "frequency", "letter_frequency"]

import re
from collections.abc import Sequence

from pytest_evalplug.evaluation.ifeval.common import compare, pattern


def existence(reply: str, *, keywords: Sequence[str]) -> bool:
    """All ``keywords`` occur, if only as parts of words."""
    return all(pattern(word, flags=re.IGNORECASE).search(reply) for word in keywords)


def frequency(reply: str, *, keyword: str, frequency: int, relation: str) -> bool:
    """``keyword`` occurs less than, or at least, ``frequency`` times, parts of words included."""
    occurrences = pattern(keyword.strip(), flags=re.IGNORECASE).finditer(reply)
    found = sum(1 for _ in occurrences)
    return compare(found, relation, frequency)


def forbidden_words(reply: str, *, forbidden_words: Sequence[str]) -> bool:
    """None of ``forbidden_words`` occurs as a word of its own."""
    edge = r"\b"
    return not any(
        pattern(word, edge, edge, re.IGNORECASE).search(reply) for word in forbidden_words
    )


def letter_frequency(reply: str, *, letter: str, let_frequency: int, let_relation: str) -> bool:
    """``letter`` occurs less than, or at least, ``let_frequency`` times.

    Any character will do. (The reference counts a random letter in place of the ``#`` and ``!``
    of two rows.)
    """
    return compare(reply.lower().count(letter.lower()), let_relation, let_frequency)
