"""What reads the text of an option; a bad one is a ValueError or a KeyError."""

from __future__ import annotations

__all__ = [
    "at_least_one",
    "choice",
    "count",
    "flag",
    "limit",
    "number",
    "positive",
    "shard",
    "share",
]

from collections.abc import Callable


def limit(text: str) -> int | float:
    """Read how many samples, or which share of them."""
    number = float(text) if "." in text else int(text)
    if number <= 0 or (isinstance(number, float) and number >= 1):
        raise ValueError(text)
    return number


def count(text: str) -> int:
    """Read a whole number, 0 or more."""
    number = int(text)
    if number < 0:
        raise ValueError(text)
    return number


def choice(*choices: str) -> Callable[[str], str]:
    """Return what reads one of ``choices``."""

    def parse(text: str) -> str:
        if text not in choices:
            raise ValueError(text)
        return text

    return parse


def number(text: str) -> float:
    """Read a number, 0 or more."""
    number = float(text)
    if not 0 <= number < float("inf"):
        raise ValueError(text)
    return number


def positive(text: str) -> float:
    """Read a number above 0."""
    number = float(text)
    if not 0 < number < float("inf"):
        raise ValueError(text)
    return number


def at_least_one(text: str) -> int:
    """Read a whole number, 1 or more."""
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def share(text: str) -> float:
    """Read a number between 0 and 1, without these."""
    number = float(text)
    if not 0 < number < 1:
        raise ValueError(text)
    return number


def shard(text: str) -> tuple[int, int]:
    """Read ``I/N``."""
    part, _, count = text.partition("/")
    number, total = int(part), int(count)
    if not 1 <= number <= total:
        raise ValueError(text)
    return number, total


def flag(text: str) -> bool:
    """Read true or false."""
    return {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}[
        text.lower()
    ]
