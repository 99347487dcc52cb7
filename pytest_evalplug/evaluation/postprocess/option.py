"""The option letter that a reply chooses."""

from __future__ import annotations

__all__ = ["first_capital", "first_option", "last_option"]

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Any

from pytest_evalplug.evaluation.postprocess.cues import (
    AND,
    CLAIM,
    DOUBT,
    GAP,
    HINT,
    LATER,
    ONE,
    RULED_OUT,
    SUPPORT,
)
from pytest_evalplug.evaluation.postprocess.reply import answer_texts
from pytest_evalplug.evaluation.postprocess.text import fold
from pytest_evalplug.evaluation.registry import postprocessors

_STYLE = re.compile(r"\\(?:text\w{0,6}|math\w{2,6}) ?\{([^{}]{0,80})\}")
_BOX = re.compile(r"\\(?:boxed|fbox) ?\{([^{}]{0,80})\}")
_TAG = re.compile(r"</?(?i:answer|final_answer|choice|option)>")
_DELETED = dict.fromkeys('*`$"\\\u201c\u201d\u300c\u300d')
_MARKUP = str.maketrans(
    {**_DELETED, "\u2019": "'", "\u3010": "[", "\u3011": "]", "{": " ", "}": " "}
)
_LISTED = re.compile(r"[ #>\-]{0,8}[(\[]?([A-Za-z])(?:[)\]][.:]?|[.:、]) ?(?=\S)")
_REASONED = re.compile(r"[ (]{0,2}([A-Z])\)?(?:,| ?[:\-\u2013\u2014]| (?:because|since|as)\b) ?\S")
_CONNECTED = re.compile(r" (?:because|since|as|is|was|and|or|but|for|due|which)\b| ?[^\w\s]| ?\n|$")
_CLAUSE_END = re.compile(r"[ )\]]{0,2}(?:$|[.,;:!?。\n]|because|since|as\b)")
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


@postprocessors.register("first-capital")
def first_capital(text: Any) -> str:
    """Return the first capital letter from A to Z, ``""`` if there is none.

    >>> first_capital("maybe (C) or D")
    'C'
    """
    match = re.search(r"[A-Z]", fold(text))
    return match[0] if match else ""


def _choose(text: Any, options: Sequence[str], multi: bool, order: int) -> str:
    for reply in map(_unmarked, answer_texts(text)):
        if letters := _chosen(reply, multi, order):
            return _valid(letters, options, multi)
    return ""


def _chosen(reply: str, multi: bool, order: int) -> str:
    """Return the letters that the reply claims, else is, else calls right, else picks."""
    lines = [line for line in reply.split("\n") if line.strip()]
    return (
        _claimed(reply, _listed(reply))
        or _alone(lines[::order], multi)
        or _supported(reply)
        or _picked_from_list(lines, order)
    )


def _valid(letters: str, options: Sequence[str], multi: bool) -> str:
    chosen = sorted(set(letters.upper()))
    allowed = {option.upper() for option in options}
    if (len(chosen) > 1 and not multi) or not allowed.issuperset(chosen):
        return ""
    return "".join(chosen)


def _unmarked(text: str) -> str:
    """Return ``text`` without markup, with boxes and answer tags turned into plain claims."""
    text = _STYLE.sub(r"\1", text)
    text = _BOX.sub(lambda box: f"\nAnswer: {box[1]}\n" if _is_option(box[1]) else " ", text)
    return _TAG.sub("\nAnswer: ", text).translate(_MARKUP)


def _is_option(content: str) -> bool:
    content = content.translate(_MARKUP)
    return bool(_options_at(content, 0) or _LISTED.match(content))


def _options_at(text: str, position: int) -> tuple[str, int] | None:
    """Return the option letters that stand at ``position``, and where they end."""
    letters = ""
    while (one := ONE.match(text, position)) and not _is_word(one, text):
        if letters and re.match(r" (?:is|was)\b", text[one.end() : one.end() + 5]):
            break
        letters += one["letter"]
        end = one.end()
        joint = AND.match(text, end)
        if not joint:
            break
        position = joint.end()
    return (letters, end) if letters else None


def _is_word(one: re.Match[str], text: str) -> bool:
    """Tell whether the letter is a word, as "a" and "I" are, or the run of letters is one."""
    letter, rest = one["letter"], text[one.end() : one.end() + 12]
    if len(letter) > 1:
        return any(a >= b for a, b in itertools.pairwise(letter))
    if letter != one[0]:
        return False
    if letter.islower():
        return not _CLAUSE_END.match(rest)
    return letter in "AI" and not _CONNECTED.match(rest)


def _claimed(text: str, listed: dict[int, str]) -> str:
    """Return the letters of the last claim."""
    found = ""
    for cue in CLAIM.finditer(text):
        gap = GAP.match(text, cue.end())
        start = gap.end() if gap else cue.end()
        options = None if start in listed else _options_at(text, start)
        if options is None and (way := LATER.match(text, cue.end())):
            options = _options_at(text, way.end())
        if options and not RULED_OUT.match(text, options[1]) and not _doubted(text, cue.start()):
            found = options[0]
    return found


def _doubted(text: str, position: int) -> bool:
    return DOUBT.search(text, max(0, position - 40), position) is not None


def _listed(text: str) -> dict[int, str]:
    """Return where the options are restated, one a line, and their letters."""
    found: dict[int, str] = {}
    position = 0
    for line in text.split("\n"):
        if match := _LISTED.match(line):
            found[position + match.start(1)] = match[1].upper()
        position += len(line) + 1
    return found if len(set(found.values())) > 1 else {}


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
    start = re.search(r"[A-Za-z]", line)
    options = start and _options_at(line, start.start())
    if not start or not options:
        return ""
    rest = line[: start.start()] + line[options[1] :]
    return "" if any(char.isalnum() for char in rest) else options[0]


def _supported(text: str) -> str:
    """Return the letters of the last option that is called right, or left as the only one."""
    found = (-1, "")
    for position, letters in (*_hinted(text), *_called_right(text)):
        found = max(found, (position, letters), key=lambda pair: pair[0])
    return found[1]


def _hinted(text: str) -> Iterator[tuple[int, str]]:
    for hint in HINT.finditer(text):
        gap = GAP.match(text, hint.end())
        options = gap and _options_at(text, gap.end())
        exclusive = hint[0].lower() in ("only", "只有")
        if options and (exclusive or _CLAUSE_END.match(text, options[1])):
            yield hint.start(), options[0]


def _called_right(text: str) -> Iterator[tuple[int, str]]:
    for one in re.finditer(r"(?<![A-Za-z0-9'])[(\[]?[A-Z](?![A-Za-z0-9'])[)\]]?", text):
        if SUPPORT.match(text, one.end()) and not _doubted(text, one.start()):
            yield one.start(), re.sub(r"\W", "", one[0])


def _picked_from_list(lines: Sequence[str], order: int) -> str:
    """Return the letter of a first or last line like "B. London", unless it lists the options."""
    listed = [match[1].upper() if (match := _LISTED.match(line)) else "" for line in lines]
    for i in (0, -1)[::order]:
        if lines and listed[i] and (len(set(listed) - {""}) == 1 or listed.count(listed[i]) > 1):
            return listed[i]
    reasoned = _REASONED.match(lines[0]) if lines and not any(listed) else None
    return reasoned[1] if reasoned else ""
