r"""The formula that a reply arrives at."""

from __future__ import annotations

__all__ = ["final_formula"]

import re

from pytest_evalplug.evaluation.postprocess.cues import ANSWER
from pytest_evalplug.evaluation.postprocess.marker import last_box
from pytest_evalplug.evaluation.postprocess.think import split_reasoning

_TAIL = 60_000
_CUE = re.compile(rf"(?:{ANSWER})[\s:=*]*", re.VERBOSE)
_FORMULA = re.compile(
    r"""
    \$\$(?P<display>(?:[^$\\]|\\.)+)\$\$
  | (?<![\\$])\$(?=\S)(?P<inline>(?:[^$\\\n]|\\[^\n])*[^$\\\s]|\\\S)\$(?![\d$])
  | \\\[(?P<square>.+?)\\\]
  | \\\((?P<round>.+?)\\\)
    """,
    re.VERBOSE | re.DOTALL,
)
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|\n|。")
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
    formulas = list(_FORMULA.finditer(text))
    if formulas:
        return _joined(text, formulas)
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
    formula = _FORMULA.search(rest)
    end = _SENTENCE_END.search(rest)
    if formula and (end is None or formula.start() < end.start()):
        following = list(_FORMULA.finditer(rest[: _line_end(rest)]))
        return _joined(rest, following or [formula], first=True)
    return rest[: end.start() if end else None].strip()


def _joined(text: str, formulas: list[re.Match[str]], *, first: bool = False) -> str:
    """Return the first or last formula with those that "and" or a comma joins to it."""
    ordered = formulas if first else formulas[::-1]
    chosen = [ordered[0]]
    for formula in ordered[1:]:
        before, after = (chosen[-1], formula) if first else (formula, chosen[-1])
        if not _JOINT.fullmatch(text, before.end(), after.start()):
            break
        chosen.append(formula)
    chosen.sort(key=lambda m: m.start())
    return ", ".join(_content(m) for m in chosen)


def _content(match: re.Match[str]) -> str:
    return next(filter(None, match.groups()), "").strip()


def _line_end(text: str) -> int | None:
    end = text.find("\n")
    return None if end < 0 else end
