"""The answers of BIG-Bench Hard (Suzgun et al. 2022, arXiv:2210.09261)."""

from __future__ import annotations

__all__ = ["bbh_freeform", "bbh_mcq", "bbh_paper"]

import re
from collections.abc import Sequence
from string import ascii_uppercase
from typing import Any

from pytest_evalplug.evaluation.postprocess.cues import ANSWER, DOUBT
from pytest_evalplug.evaluation.postprocess.marker import last_box
from pytest_evalplug.evaluation.postprocess.number import canonical_number
from pytest_evalplug.evaluation.postprocess.option import first_option
from pytest_evalplug.evaluation.postprocess.reply import answer_texts
from pytest_evalplug.evaluation.registry import postprocessors

_CUE = re.compile(ANSWER, re.VERBOSE)
_CLAIM_LENGTH = 500
_GAP = re.compile(r"[\s:=*]*")
_SENTENCE_END = re.compile(r"[.!?](?= |$)")
_TRUTH = r"(yes|no|true|false|valid|invalid)\b"
_WORD = re.compile(rf"{_TRUTH}(?![^\w/]*(?:or\b|and\b|/)\W*{_TRUTH})", re.IGNORECASE)
"""A word that is the answer; "yes or no" repeats what was asked."""
_NUMBER = re.compile(r"[$+\-\u2212]{0,2}\.?\d")
_COMMA = re.compile(r" ?(?<!\d), ?| ?,(?! ?\d) ?")


@postprocessors.register("bbh-paper")
def bbh_paper(text: Any) -> str:
    """Return what stands after the last ``the answer is ``, without one trailing full stop.

    The published rule: chain-of-thought replies end in "So the answer is X.". A reply without
    the phrase is returned whole, and so equals the reference only if it is that.

    >>> bbh_paper("The date today is 01/05. So the answer is (B).")
    '(B)'
    """
    return str(text).rpartition("the answer is ")[2].strip().removesuffix(".")


@postprocessors.register("bbh-mcq")
def bbh_mcq(text: Any, options: Sequence[str] = ascii_uppercase) -> str:
    """Return the letter of a subset with options, by the rule of ``first-option``.

    It reads references such as ``(A)`` too. The rule is ours; OpenCompass's, which takes the
    first claim, or else the first capital, is ``opencompass-bbh-mcq``.

    >>> bbh_mcq("Is the answer (A)? No. So the answer is (R)."), bbh_mcq("(A)")
    ('R', 'A')
    """
    return first_option(text, options)


@postprocessors.register("bbh-freeform")
def bbh_freeform(text: Any) -> str:
    """Return the answer of a subset without options, ``""`` if there is none.

    The last claim ("the answer is X") wins; without one the reply, or its last line, counts if it
    is no sentence. Yes, no, true and false are capitalized, numbers in canonical form, all else
    is in lower case with single spaces for commas, so references must go through this too. The
    rule is ours; OpenCompass's is ``opencompass-bbh-freeform``.

    >>> bbh_freeform("So the answer is **no**."), bbh_freeform("Sorted: the answer is ant, bee.")
    ('No', 'ant bee')
    """
    return next(filter(None, map(_free_answer, answer_texts(text))), "")


def _free_answer(reply: str) -> str:
    for cue in reversed(list(_CUE.finditer(reply))):
        gap = _GAP.match(reply, cue.end())
        start = gap.end() if gap else cue.end()
        claim = reply[start : start + _CLAIM_LENGTH].partition("\n")[0]
        end = _SENTENCE_END.search(claim)
        answer = _plain(claim[: end.start()] if end else claim)
        if (
            answer
            and not claim.startswith("not ")
            and not DOUBT.search(reply, max(0, cue.start() - 40), cue.start())
        ):
            return answer
    last = reply.strip().rpartition("\n")[2]
    return "" if len(last) > _CLAIM_LENGTH or _is_sentence(last) else _plain(last)


def _is_sentence(line: str) -> bool:
    """Tell whether a line is no answer: more than three words, and not all in lower case."""
    words = line.split()
    return len(words) > 3 and (line != line.lower() or line.rstrip()[-1] in ".?!")


def _plain(answer: str) -> str:
    box = last_box(answer)
    text = re.sub(r"[*`\"$]", "", answer if box is None else box).strip().removesuffix(".")
    if word := _WORD.match(text):
        found = word[1].lower()
        return found if found.endswith("valid") else found.capitalize()
    if _NUMBER.match(text) and (number := canonical_number(text)):
        return number
    return " ".join(_COMMA.sub(" ", text).lower().split())
