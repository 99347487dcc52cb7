"""Instructions ``change_case:...``: capital and lower-case letters."""

from __future__ import annotations

__all__ = ["capital_word_frequency", "english_capital", "english_lowercase"]

from pytest_evalplug.evaluation.ifeval.common import compare
from pytest_evalplug.evaluation.ifeval.language import response_language
from pytest_evalplug.evaluation.ifeval.words import words


def capital_word_frequency(reply: str, *, capital_frequency: int, capital_relation: str) -> bool:
    """Less than, or at least, ``capital_frequency`` words (:mod:`.words`) are all in capitals."""
    capitals = sum(1 for word in words(reply) if word.isupper())
    return compare(capitals, capital_relation, capital_frequency)


def english_capital(reply: str) -> bool:
    """The reply has no lower-case letter, some capital, and is English."""
    return reply.isupper() and response_language(reply, language="en")


def english_lowercase(reply: str) -> bool:
    """The reply has no capital, some lower-case letter, and is English."""
    return reply.islower() and response_language(reply, language="en")
