"""The letters that a Sample's choices go by."""

from __future__ import annotations

__all__ = ["label", "letters"]

from string import ascii_uppercase

from pytest_evalplug.errors import DataError
from pytest_evalplug.types import Sample


def label(position: int) -> str:
    """Return the letter of the choice at ``position``: A, B, ... Z, then AA, AB, ..."""
    text = ""
    position += 1
    while position:
        position, rest = divmod(position - 1, 26)
        text = ascii_uppercase[rest] + text
    return text


def letters(sample: Sample) -> str:
    """Return the letters of a Sample's choices (``ABCD``); raises DataError beyond Z."""
    count = len(sample.choices or ())
    if count > len(ascii_uppercase):
        raise DataError(f"{count} choices, but there are only {len(ascii_uppercase)} letters")
    return ascii_uppercase[:count]
