"""The mathematical expression that a reply arrives at."""

from __future__ import annotations

__all__ = ["math_answer"]

import itertools
import re
from collections.abc import Iterator
from typing import Any

from pytest_evalplug.evaluation.postprocess.cues import ANSWER, DOUBT
from pytest_evalplug.evaluation.postprocess.marker import last_box_span
from pytest_evalplug.evaluation.postprocess.text import fold_maths
from pytest_evalplug.evaluation.postprocess.think import without_reasoning
from pytest_evalplug.evaluation.registry import postprocessors

_CUE = re.compile(rf"\#\#\#\# | <answer> | {ANSWER}", re.VERBOSE)
_CUES, _LENGTH = 100, 2_000
"""How many claims, from the last one back, and how much of each are looked at."""
_GAP = re.compile(r"[\s:*}]*")  # a brace closes the \text that the cue stood in
_SIGN = re.compile(r"[$\\(\[{+\-|\u221a]")
_PIECE = re.compile(
    r"""
      \$\$ (?P<display>[^$]{1,1000}) \$\$
    | (?<!\\) \$ (?P<inline>(?=\S)(?:\\.|[^$\\])+(?<=\S) | [ ](?:\\.|[^$\\])+[ ]) \$ (?!\d)
    | \\\[ (?P<square>.{1,500}?) \\\]
    | \\\( (?P<round>.{1,500}?) \\\)
    | (?P<end>\n\s*\n | [.?](?=[\s"')*]|$) | (?<!\\)!(?=["')*]*(?:\s*$|\s+[^\W\d_a-z]|[^\x00-\x7f]))
      | [。?] | </answer>)
    """,
    re.VERBOSE | re.DOTALL,
)
"""A formula, or the end of a sentence that is in none; ``5! ways`` goes on."""
_JOINT = re.compile(r"[\s,;]*(?:and|or|和|或|与|及)?[\s,;]*")
_ASIDE = re.compile(r",? (?:because|since|where|so|which|as)\b|\n")
_NO_WORD = re.compile(
    r"\\(?:begin|end)\s?\{\w{1,20}\*?\}"
    r"| \\(?:text|mathrm|mbox|operatorname)\w{0,4}\s?\{[^{}]{0,200}\} | \\[A-Za-z]+"
    r"| \b(?:and|or|mod|sin|cos|tan|log|ln|exp|lim|min|max|gcd|lcm|det|pi)\b",
    re.VERBOSE,
)
_WORD = re.compile(r"[^\W\d_]{2,}")


@postprocessors.register("math-answer")
def math_answer(text: Any, *, invalid: str = "") -> str:
    r"""Return the expression that the reply arrives at, as it is written, or ``invalid``.

    The last marked one counts: what a box holds, or what follows "the answer is" or ``####``.
    Without a mark it is the last formula (``$..$``, ``\(..\)``, ``\[..\]``) of the final line,
    or that line, if it is no prose. Digits and letters are folded to their plain forms, raised
    and lowered ones to ``^{}`` and ``_{}``.

    The rule is ours; the box is the convention of MATH (Hendrycks et al. 2021, arXiv:2103.03874).

    >>> math_answer(r"So $x^2 = 9$. The answer is $x = 3$ or $x = -3$, as asked.")
    'x = 3 or x = -3'
    """
    reply = fold_maths(without_reasoning(text))
    box = last_box_span(reply)
    if box is None:
        return next(_claims(reply, 0, words=3), "") or _concluded(reply) or invalid
    content = reply[slice(*box)].strip()
    return next(_claims(reply, box[1], words=0), "") or content or invalid


def _claims(reply: str, position: int, words: int) -> Iterator[str]:
    """Yield the expressions that are claimed after ``position``, of so many words, last first."""
    for cue in list(_CUE.finditer(reply, position))[: -_CUES - 1 : -1]:
        sign = _SIGN.search(reply, cue.start(), cue.end())  # cues may reach into the answer
        gap = _GAP.match(reply, sign.start() if sign else cue.end())
        start = gap.end() if gap else cue.end()
        claim = _claim(reply[start : start + _LENGTH])
        doubted = DOUBT.search(reply, max(0, cue.start() - 40), cue.start())
        if claim and _words(claim) <= words and not doubted:
            yield claim


def _claim(text: str) -> str:
    """Return the formulas that a sentence begins with, as one, or what else it begins with."""
    if text.startswith("not "):
        return ""
    formulas, end = _formulas(text)
    if not formulas or re.search(r"\d", text[: formulas[0].start()]):
        return _bare(_ASIDE.split(text[:end], maxsplit=1)[0])
    return _joined(text, formulas)


def _joined(text: str, formulas: list[re.Match[str]]) -> str:
    """Return the first formula with those joined to it, as one."""
    parts = [_content(formulas[0])]
    for left, right in itertools.pairwise(formulas):
        between = text[left.end() : right.start()]
        if not _JOINT.fullmatch(between):
            break
        parts += [between, _content(right)]
    return "".join(parts)


def _formulas(text: str) -> tuple[list[re.Match[str]], int]:
    """Return the formulas of the first sentence, and where it ends."""
    found: list[re.Match[str]] = []
    for piece in _PIECE.finditer(text):
        if piece.lastgroup == "end":
            return found, piece.start()
        if _words(_content(piece)) < 2:
            found.append(piece)
    return found, len(text)


def _concluded(reply: str) -> str:
    """Return the formula that the final line or the reply ends in, else the line if it is one."""
    tail = reply.strip()[-_LENGTH:]
    start_of_line = tail.rfind("\n") + 1
    pieces = (p for p in _PIECE.finditer(tail) if p.lastgroup != "end")
    formulas = [p for p in pieces if _words(_content(p)) < 2]
    if formulas:
        end = formulas[-1].end()
        if end > start_of_line or (_words(tail[end:]) < 2 and not re.search(r"\d", tail[end:])):
            return _joined(tail, _last_group(tail, formulas))
    whole = tail if _words(tail) == 0 else tail[start_of_line:]
    return _bare(whole) if _words(whole) < 2 and len(whole) < _LENGTH else ""


def _last_group(text: str, formulas: list[re.Match[str]]) -> list[re.Match[str]]:
    """Return the last formula and those before it that a comma or a word joins to it."""
    first = len(formulas) - 1
    while first > 0:
        between = text[formulas[first - 1].end() : formulas[first].start()]
        if not (between.strip() and _JOINT.fullmatch(between)):
            break
        first -= 1
    return formulas[first:]


def _content(formula: re.Match[str]) -> str:
    return next(filter(None, formula.groups()), "").strip()


def _bare(text: str) -> str:
    """Return ``text`` without marks of emphasis, an unpaired dollar and a full stop."""
    text = re.sub(r"\*\*|`|(?<!\\)\$", "", text).strip()
    return text.removesuffix(".").strip()


def _words(text: str) -> int:
    """Count the words that are none of a formula's."""
    return len(_WORD.findall(_NO_WORD.sub(" ", text)))
