"""The option letter that a reply chooses."""

from __future__ import annotations

__all__ = ["first_option", "last_option"]

import re
from collections.abc import Iterator, Sequence
from typing import Any

from pytest_evalplug.evaluation.postprocess.cues import GAP, HINT, SUPPORT
from pytest_evalplug.evaluation.postprocess.letters import (
    CLAUSE_END,
    LISTED,
    claimed,
    doubted,
    groups,
    options_at,
    unmarked,
    valid,
)
from pytest_evalplug.evaluation.postprocess.reply import answer_texts
from pytest_evalplug.evaluation.registry import postprocessors

_REASONED = re.compile(
    r"[ (]{0,2}(?!I(?:,| ?[\-\u2013\u2014]))([A-Z])\)?"
    r"(?:,| ?[:\-\u2013\u2014]| (?:because|since|as)\b) ?\S"
)
_LINE_LENGTH = 120


@postprocessors.register("first-option")
def first_option(text: Any, options: Sequence[str] = "ABCD", *, multi: bool = False) -> str:
    """Return the letter that the reply chooses, ``""`` if it chooses none of ``options``.

    The last claim ("the answer is B", a boxed or tagged letter) wins over any bare letter; a
    letter without a claim counts only where the reply, its first line or its last line is no
    more than that. An option that is ruled out, or listed with the others, is not chosen. With
    ``multi`` all the chosen letters are returned, sorted.

    >>> first_option("Option A fails, so the answer is **(B)**.")
    'B'
    """
    return _choose(text, options, multi, order=1)


@postprocessors.register("last-option")
def last_option(text: Any, options: Sequence[str] = "ABCD", *, multi: bool = False) -> str:
    r"""Return what :func:`first_option` does, but look at the last line before the first.

    >>> last_option("A\nor rather\nC")
    'C'
    """
    return _choose(text, options, multi, order=-1)


def _choose(text: Any, options: Sequence[str], multi: bool, order: int) -> str:
    for reply in map(unmarked, answer_texts(text)):
        if letters := _chosen(reply, multi, order):
            return valid(letters, options, multi)
    return ""


def _chosen(reply: str, multi: bool, order: int) -> str:
    """Return the letters that the reply claims, else is, else calls right, else picks."""
    lines = [line for line in reply.split("\n") if line.strip()]
    return (
        claimed(reply)
        or _alone(lines[::order], multi)
        or _supported(reply)
        or _picked_from_list(lines, order)
    )


def _alone(lines: Sequence[str], multi: bool) -> str:
    """Return the letters of a reply, or of its first or last line, that is nothing else."""
    found = [_alone_in(line) for line in lines]
    if multi and found and all(found):
        return "".join(found)
    if found and all(found) and len(set(found)) > 1:
        return ""  # a list of letters
    return next((letters for letters in found[:1] + found[-1:] if letters), "")


def _alone_in(line: str) -> str:
    if len(line) > _LINE_LENGTH:
        return ""
    gap = GAP.match(line)
    start = re.compile(r"[A-Za-z]").search(line, gap.end() if gap else 0)
    options = start and options_at(line, start.start())
    if not gap or not start or not options:
        return ""
    rest = line[gap.end() : start.start()] + line[options[1] :].removeprefix("选项")
    return "" if any(char.isalnum() or char == ":" for char in rest) else options[0]


def _supported(text: str) -> str:
    """Return the letters of the last option that is called right, or left as the only one."""
    found = (-1, "")
    for position, letters in (*_hinted(text), *_called_right(text)):
        found = max(found, (position, letters), key=lambda pair: pair[0])
    return found[1]


def _hinted(text: str) -> Iterator[tuple[int, str]]:
    for hint in HINT.finditer(text):
        gap = GAP.match(text, hint.end())
        options = gap and options_at(text, gap.end())
        exclusive = hint[0].lower() in ("only", "只有")
        if options and (exclusive or CLAUSE_END.match(text, options[1])):
            yield hint.start(), options[0]


def _called_right(text: str) -> Iterator[tuple[int, str]]:
    for start, letters, end in groups(text):
        if SUPPORT.match(text, end) and not doubted(text, start):
            yield start, letters


def _picked_from_list(lines: Sequence[str], order: int) -> str:
    """Return the letter of a first or last line like "B. London", unless it lists the options."""
    listed = [match[1].upper() if (match := LISTED.match(line)) else "" for line in lines]
    for i in (0, -1)[::order]:
        if lines and listed[i] and (len(set(listed) - {""}) == 1 or listed.count(listed[i]) > 1):
            return listed[i]
    reasoned = _REASONED.match(lines[0]) if lines and not any(listed) else None
    return reasoned[1] if reasoned else ""
