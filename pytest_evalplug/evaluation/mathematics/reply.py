r"""The formula that a reply arrives at."""

from __future__ import annotations

__all__ = ["final_formula"]

import re
from collections.abc import Iterator
from typing import NamedTuple

from pytest_evalplug.evaluation.postprocess.cues import ANSWER
from pytest_evalplug.evaluation.postprocess.marker import last_box
from pytest_evalplug.evaluation.postprocess.think import split_reasoning

_TAIL = 60_000
_CUE = re.compile(rf"(?:{ANSWER})[\s:=*}}]*", re.VERBOSE)
_DELIMITER = re.compile(r"\\.|\$\$|\$", re.DOTALL)
_CLOSES = {r"\)": r"\(", r"\]": r"\[", "$$": "$$", "$": "$"}
_SENTENCE_END = re.compile(r"(?<!\\)[.!?](?=\s|$)|\n|。")
_JOINT = re.compile(r"\s*(?:,|,?\s?and|,?\s?or)\s*")
_BOLD = re.compile(r"\*\*(?=\S)([^*\n]{1,300})\*\*|__(?=\S)([^_\n]{1,300})__")
_BOX = re.compile(r"\\(?:boxed|fbox)\s{0,9}\{")


def final_formula(reply: str) -> str:
    r"""Return the formula that a reply arrives at, ``""`` if it has none.

    The last ``\boxed{}``, else what follows the last "answer is", else the last formula between
    dollars, else the last line.
    """
    text, _ = split_reasoning(reply)
    text = text[-_TAIL:]
    box = last_box(text)
    if box is not None:
        return _unboxed(box)
    text = _BOLD.sub(lambda m: m[1] or m[2], text)
    cues = list(_CUE.finditer(text))
    if cues and (claim := _claimed(text[cues[-1].end() :])):
        return claim
    formulas = list(_formulas(text))
    if formulas:
        return _joined(text, formulas, last=True)
    return next((line.strip() for line in reversed(text.split("\n")) if line.strip()), "")


def _unboxed(box: str) -> str:
    inner = box
    for _ in range(20):
        found = last_box(inner)
        if found is None or _BOX.split(inner.strip(), maxsplit=1)[0]:
            break
        inner = found
    return inner.strip()


def _claimed(rest: str) -> str:
    """Return the formula in the sentence after a cue, or else the sentence."""
    end = _SENTENCE_END.search(rest)
    formulas = list(_formulas(rest))
    if formulas and (end is None or formulas[0].start < end.start()):
        return _joined(rest, formulas)
    return rest[: end.start() if end else None].strip()


class _Formula(NamedTuple):
    start: int
    end: int
    content: str


def _formulas(text: str) -> Iterator[_Formula]:
    r"""Yield the formulas between dollars, ``\( \)`` and ``\[ \]``.

    As in Pandoc a dollar closes none if a digit follows it, or white space precedes it: it is
    money then.
    """
    opening: re.Match[str] | None = None
    for mark in _DELIMITER.finditer(text):
        opens = opening is not None and _CLOSES.get(mark[0]) == opening[0]
        if opening is not None and opens:
            content = text[opening.end() : mark.start()]
            money = mark[0] == "$" and (
                text[mark.end() : mark.end() + 1].isdigit()
                or not content.strip()
                or content[-1].isspace()
                or "\n" in content
            )
            if not money:
                yield _Formula(opening.start(), mark.end(), content.strip())
            opening = mark if money else None
        elif mark[0] in (r"\(", r"\[") or (mark[0] in ("$", "$$") and opening is None):
            opening = mark


def _joined(text: str, formulas: list[_Formula], *, last: bool = False) -> str:
    """Return the first or last formula with those that "and" or a comma joins to it."""
    ordered = formulas[::-1] if last else formulas
    chosen = [ordered[0]]
    for formula in ordered[1:]:
        before, after = sorted((chosen[-1], formula))
        if not _JOINT.fullmatch(text, before.end, after.start):
            break
        chosen.append(formula)
    return ", ".join(formula.content for formula in sorted(chosen))
