"""The number that a reply arrives at."""

from __future__ import annotations

__all__ = ["canonical_number", "first_number", "last_number"]

import re
from collections.abc import Iterator
from typing import Any

from pytest_evalplug.evaluation.postprocess.cues import ANSWER, DOUBT
from pytest_evalplug.evaluation.postprocess.numerals import Numeral, numerals, spell_out
from pytest_evalplug.evaluation.postprocess.reply import answer_texts
from pytest_evalplug.evaluation.postprocess.text import fold
from pytest_evalplug.evaluation.registry import postprocessors

_CUE = re.compile(rf"\#\#\#\# | \\boxed[ ]?\{{ | <answer> | {ANSWER}", re.VERBOSE)
_GAP = re.compile(r"[\s:=*$]*")
_SENTENCE_END = re.compile(r"\n|[.!?](?=[\s\"')*]|$)|[。!?]")
_ASIDE = re.compile(r", |;|、| (?:because|since|where|so|which|therefore|thus)\b")
_DENIED = re.compile(r"\b(?:not|instead of|rather than) [$€£¥₹]?\d[\d.,]*")
_CLAUSE_LENGTH = 200
_SHORT = 16
"""A whole number of fewer digits is its own canonical form, unless it begins with 0."""
_DIGIT = re.compile(r"\d")
_BRACKETED = re.compile(r"(?<!\\)(?:\([^()]*\)|\[[^\[\]]*\])")
_ENUMERATION = re.compile(r"^[ #>*\-]{0,8}\d{1,3}[.)] +(?=\S)", re.MULTILINE)


@postprocessors.register("last-number", "gsm8k")
def last_number(text: Any) -> str:
    r"""Return the number that the reply arrives at, in canonical form, ``""`` if there is none.

    The last marked number (``#### 8``, ``\boxed{8}``, "the answer is 8") wins over the last
    number of the reply; of an equation what follows the last equals sign counts. Equal numbers
    give equal texts: ``1,000`` and ``1000.0`` are ``1000``, ``3/4`` is ``0.75``, ``1/3`` stays.
    It reads GSM8K's replies and its solutions alike (Cobbe et al. 2021, arXiv:2110.14168).

    >>> last_number("He sells 9 * 2 = $18 worth every day.")
    '18'
    """
    replies = answer_texts(spell_out(text))
    return next(filter(None, map(_find_last, replies)), "")


@postprocessors.register("first-number")
def first_number(text: Any) -> str:
    """Return what :func:`last_number` does, but the first number where none is marked.

    >>> first_number("1,200 in 3 days")
    '1200'
    """
    replies = answer_texts(spell_out(text))
    return next(filter(None, map(_find_first, replies)), "")


def canonical_number(text: str) -> str:
    """Return the only number in a short text, in canonical form, ``""`` for none or several."""
    if text.isascii() and text.isdigit() and text[0] != "0" and len(text) < _SHORT:
        return text
    found = list(numerals(fold(spell_out(text))))
    return found[0].value if len(found) == 1 else ""


def _find_last(reply: str) -> str:
    return _marked(reply) or _last(_DENIED.sub(" ", _ENUMERATION.sub("", reply))) or _last(reply)


def _find_first(reply: str) -> str:
    return _marked(reply) or next((n.value for n in _preferred(reply)), "")


def _preferred(text: str) -> list[Numeral]:
    """Return the numbers of ``text``, ordinals only where there are no others."""
    found = list(numerals(text))
    return [n for n in found if not n.ordinal] or found


def _marked(reply: str) -> str:
    """Return the number of the last cue that has one in its clause."""
    for cue in _cues_from_the_end(reply):
        gap = _GAP.match(reply, cue.end())
        start = gap.end() if gap else cue.end()
        limit = start + _CLAUSE_LENGTH
        if not _DIGIT.search(reply, start, limit):
            continue
        end = _SENTENCE_END.search(reply, start, limit)
        found = _claimed(reply[start : end.start() if end else limit])
        if found and not DOUBT.search(reply, max(0, cue.start() - 40), cue.start()):
            return found
    return ""


def _cues_from_the_end(reply: str) -> Iterator[re.Match[str]]:
    """Yield what says that the answer follows, the last one first.

    Most replies that have a ``####`` end with it, so what stands before is searched only if need
    be; in ASCII no other cue holds that sign.
    """
    start = reply.rfind("####") if reply.isascii() else -1
    start = len(reply[: start + 1].rstrip("#")) if start >= 0 else 0
    yield from reversed(list(_CUE.finditer(reply, start)))
    if start:
        yield from reversed(list(_CUE.finditer(reply, 0, start)))


def _claimed(clause: str) -> str:
    """Return the number that the clause after a cue begins with, its equation worked out."""
    if clause.startswith("not "):
        return ""
    for part in _ASIDE.split(clause):
        if found := _result(part, 0):
            return found
    return ""


def _last(reply: str) -> str:
    """Return the last number, of the last sentence that has one."""
    for sentence in reversed(_SENTENCE_END.split(reply)):
        if not _DIGIT.search(sentence):
            continue
        for part in reversed(_ASIDE.split(sentence)):
            if found := _result(part, -1):
                return found
    return ""


def _result(part: str, which: int) -> str:
    """Return the number after the last equals sign, else the first or last one of ``part``."""
    _, equals, right = part.rpartition("=")
    if equals and (found := _preferred(right)):
        return found[0].value
    found = _preferred(_BRACKETED.sub(" ", part)) or _preferred(part)
    return found[which].value if found else ""
