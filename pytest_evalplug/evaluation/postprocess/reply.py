"""What of a reply is its answer's text: no reasoning, no markup, no invented next question."""

from __future__ import annotations

__all__ = ["answer_text", "own_part"]

import re
from typing import Any

from pytest_evalplug.evaluation.postprocess.text import fold
from pytest_evalplug.evaluation.postprocess.think import split_reasoning

_NEXT_QUESTION = re.compile(
    r"\n[ #>*]*(?:(?i:question|problem|human|user|instruction)|Q|问题|题目|問題|例题)"
    r" ?\d*[ *]*[:.]"
)


def answer_text(reply: Any) -> str:
    """Return the folded reply without its reasoning and without what it makes up afterwards."""
    text, _ = split_reasoning("" if reply is None else str(reply))
    return own_part(re.sub(r"[^\S\n]+", " ", fold(text)))


def own_part(text: str) -> str:
    """Return ``text`` up to a further question that the model poses itself.

    A question that the reply begins with, or announces, is the one it was asked.
    """
    question = _NEXT_QUESTION.search(text)
    if question is None:
        return text
    own = text[: question.start()].rstrip("* \n")
    return text if not own or own[-1] in ":!" else own
