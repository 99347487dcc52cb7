"""The letters of a multiple-choice sample."""

from __future__ import annotations

__all__ = ["choice_letters"]

import re
from typing import Any

from pytest_evalplug.dataset.letters import label
from pytest_evalplug.types import Sample

_LETTER = re.compile(r"\s*\(?([A-Z])[).]?\s*")


def choice_letters(sample: Sample) -> Any:
    """Return the target as a letter, or a list of letters; it may be written as a choice's text.

    A target that is neither is returned as it is, and so equals no choice.
    """
    if isinstance(sample.target, (list, tuple)):
        return [_letter(target, sample.choices or []) for target in sample.target]
    return _letter(sample.target, sample.choices or [])


def _letter(target: Any, choices: list[str]) -> Any:
    match = _LETTER.fullmatch(str(target))
    if match and match[1] in map(label, range(len(choices))):
        return match[1]
    return label(choices.index(target)) if target in choices else target
