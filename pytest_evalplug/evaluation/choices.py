"""The letters of a multiple-choice sample."""

from __future__ import annotations

__all__ = ["choice_letters", "letters"]

import re
from string import ascii_uppercase
from typing import Any

from pytest_evalplug.types import Sample

_LETTER = re.compile(r"\s*\(?([A-Z])[).]?\s*")


def letters(count: int) -> str:
    """Return the letters of ``count`` choices, ``ABCD`` for four; after Z there are none."""
    return ascii_uppercase[:count]


def choice_letters(sample: Sample) -> Any:
    """Return the target as a letter, or a list of letters; it may be written as a choice's text.

    A target that is neither is returned as it is, and so equals no choice.
    """
    if isinstance(sample.target, (list, tuple)):
        return [_letter(target, sample.choices or []) for target in sample.target]
    return _letter(sample.target, sample.choices or [])


def _letter(target: Any, choices: list[str]) -> Any:
    match = _LETTER.fullmatch(str(target))
    if match and match[1] in letters(len(choices)):
        return match[1]
    return letters(len(choices))[choices.index(target)] if target in choices[:26] else target
