"""Which instructions a reply follows, strictly and loosely."""

from __future__ import annotations

__all__ = ["INSTRUCTIONS", "Followed", "follow"]

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from itertools import product
from types import ModuleType
from typing import Any, NamedTuple

from pytest_evalplug.errors import DataError, nearest
from pytest_evalplug.evaluation.ifeval import (
    change_case,
    combination,
    detectable_content,
    detectable_format,
    keywords,
    language,
    length_constraints,
    punctuation,
    startend,
)

_FAMILIES: tuple[ModuleType, ...] = (
    change_case,
    combination,
    detectable_content,
    detectable_format,
    keywords,
    length_constraints,
    punctuation,
    startend,
)

INSTRUCTIONS: dict[str, Callable[..., bool]] = {
    f"{family.__name__.rpartition('.')[2]}:{name}": getattr(family, name)
    for family in _FAMILIES
    for name in family.__all__
} | {"language:response_language": language.response_language}
"""The rule of each instruction: ``(reply, **arguments) -> bool`` for a reply that isn't blank."""


class Followed(NamedTuple):
    """Whether one instruction was followed."""

    instruction: str
    strict: bool
    loose: bool


def follow(instruction: str, arguments: Mapping[str, Any], reply: str) -> Followed:
    """Check one instruction; a blank reply follows none.

    *Loose* tries seven more readings: without the first line, the last, or both, and each of the
    four without asterisks (Zhou et al. 2023, section 2.3). An argument that is ``None`` is
    absent. Raises DataError for an unknown instruction and for arguments that aren't its own.
    """
    rule = _rule(instruction, {k: v for k, v in arguments.items() if v is not None})
    strict = bool(reply.strip()) and rule(reply)
    return Followed(instruction, strict, strict or any(map(rule, _other_readings(reply))))


def _rule(instruction: str, arguments: Mapping[str, Any]) -> Callable[[str], bool]:
    if instruction not in INSTRUCTIONS:
        raise DataError(
            f"unknown instruction {instruction!r}", fix=nearest(instruction, INSTRUCTIONS)
        )
    rule = INSTRUCTIONS[instruction]
    wanted = list(inspect.signature(rule).parameters)[1:]
    if sorted(wanted) != sorted(arguments):
        raise DataError(
            f"{instruction} has the arguments {', '.join(arguments) or 'none'}",
            fix=f"It takes {', '.join(wanted) or 'none'}.",
        )
    return partial(rule, **arguments)


def _other_readings(reply: str) -> list[str]:
    lines = reply.split("\n")
    parts = (lines[1:], lines[:-1], lines[1:-1])
    texts = (reply, *("\n".join(part).strip() for part in parts))
    readings = (text.replace("*", "") if bare else text for bare, text in product((0, 1), texts))
    return [text for text in dict.fromkeys(readings) if text != reply and text.strip()]
