"""Option letters where they stand in a reply: alone, listed, claimed."""

from __future__ import annotations

__all__ = [
    "CLAUSE_END",
    "LISTED",
    "claimed",
    "doubted",
    "groups",
    "options_at",
    "standing",
    "unmarked",
    "valid",
]

import itertools
import re
from collections.abc import Iterator, Sequence

from pytest_evalplug.evaluation.postprocess.cues import (
    AND,
    CLAIM,
    DOUBT,
    GAP,
    LATER,
    ONE,
    RULED_OUT,
)

_STYLE = re.compile(r"\\(?:text\w{0,6}|math\w{2,6}) ?\{([^{}]{0,80})\}")
_BOX = re.compile(r"\\(?:boxed|fbox) ?\{([^{}]{0,80})\}")
_TAG = re.compile(r"</?(?i:answer|final_answer|choice|option)>")
_STYLE_TAG = re.compile(r"</?(?:b|i|u|em|strong|code|p|br) ?/?>")
_QUOTED = re.compile(r"(?<!\w)'([^'\n]{1,40})'(?!\w)")
_UNDERSCORES = re.compile(r"(?<![^\W_])_+|_+(?![^\W_]|\{)|(?<=[a-z]{2})_(?=[a-z]{2})")
_DELETED = dict.fromkeys('*`$"\\\u201c\u201d\u300c\u300d')
_MARKUP = str.maketrans(
    {**_DELETED, "\u2019": "'", "\u3010": "[", "\u3011": "]", "{": " ", "}": " "}
)
LISTED = re.compile(
    r"[ #>\-]{0,8}(?:(?i:option|choice) |选项)?[(\[]?([A-Za-z])(?:[)\]][.:]?|[.:、]) ?(?=\S)"
)
_CONNECTED = re.compile(
    r" (?:because|since|as|is|was|and|or|but|for|due|which|[A-Z])\b| ?[^A-Za-z0-9_\s]| ?\n|$"
)
_CAPITAL = re.compile(r"(?<![A-Za-z0-9'_])[A-Z]")
CLAUSE_END = re.compile(r"[ )\]]{0,2}(?:$|[.,;:!?。\n]|because|since|as\b)")


def valid(letters: str, options: Sequence[str], multi: bool) -> str:
    """Return the letters, sorted, ``""`` if one is no option, or several are not allowed."""
    chosen = sorted(set(letters.upper()))
    allowed = {option.upper() for option in options}
    if (len(chosen) > 1 and not multi) or not allowed.issuperset(chosen):
        return ""
    return "".join(chosen)


def unmarked(text: str) -> str:
    """Return ``text`` without markup, with boxes and answer tags turned into plain claims."""
    text = _STYLE.sub(r"\1", _STYLE_TAG.sub("", text))
    text = _BOX.sub(lambda box: f"\nAnswer: {box[1]}\n" if _is_option(box[1]) else " ", text)
    text = _TAG.sub("\nAnswer: ", text).translate(_MARKUP)
    return _QUOTED.sub(r"\1", _UNDERSCORES.sub(" ", text))


def _is_option(content: str) -> bool:
    content = content.translate(_MARKUP)
    gap = GAP.match(content)
    return bool(options_at(content, gap.end() if gap else 0) or LISTED.match(content))


def options_at(text: str, position: int) -> tuple[str, int] | None:
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
        return not CLAUSE_END.match(rest)
    return letter in "AI" and not _CONNECTED.match(rest)


def claimed(text: str) -> str:
    """Return the letters of the last claim."""
    found, restated = "", _listed(text)
    for cue in CLAIM.finditer(text):
        gap = GAP.match(text, cue.end())
        start = gap.end() if gap else cue.end()
        options = None if start in restated else options_at(text, start)
        if options is None and (way := LATER.match(text, cue.end())):
            options = options_at(text, way.end())
        if options and not RULED_OUT.match(text, options[1]) and not doubted(text, cue.start()):
            found = options[0]
    return found


def standing(text: str) -> Iterator[str]:
    """Yield the letters that stand by themselves and are neither ruled out nor restated options.

    Letters that are joined ("A, B and D", "ABD") come together.
    """
    restated = _listed(text)
    for start, letters, end in groups(text):
        ruled_out = RULED_OUT.match(text, end) or doubted(text, start)
        if start not in restated and not ruled_out:
            yield letters


def groups(text: str) -> Iterator[tuple[int, str, int]]:
    """Yield where the letters that stand by themselves begin, those joined, and where they end."""
    position = 0
    while one := _CAPITAL.search(text, position):
        found = options_at(text, one.start())
        letters, position = found or ("", one.end())
        if letters:
            yield one.start(), letters, position


def doubted(text: str, position: int) -> bool:
    """Tell whether what stands before ``position`` takes back what follows."""
    return DOUBT.search(text, max(0, position - 40), position) is not None


def _listed(text: str) -> dict[int, str]:
    """Return where the options are restated, one a line, and their letters."""
    found: dict[int, str] = {}
    position = 0
    for line in text.split("\n"):
        if match := LISTED.match(line):
            found[position + match.start(1)] = match[1].upper()
        position += len(line) + 1
    return found if len(set(found.values())) > 1 else {}
