"""What of a reply may hold its answer: no reasoning, no invented next question."""

from __future__ import annotations

__all__ = ["TURN_END", "answer_texts"]

import re
from collections.abc import Iterator
from typing import Any

from pytest_evalplug.evaluation.postprocess.text import fold
from pytest_evalplug.evaluation.postprocess.think import split_reasoning

TURN_END = r"(?:<\|(?:im_end|endoftext|end_of_text|eot_id|end)\|>|</s>|<end_of_turn>)"
"""What ends a turn of a chat, where it was not taken out of the text."""

_NEXT = re.compile(
    r"\n[ #>*]{0,8}(?:(?i:question|problem|exercise|human|user|instruction)|Q|问题|题目|問題|例题)"
    r" ?\d{0,4}[ *]{0,4}(?:[:.]|(?=\n))"
    rf"|{TURN_END}"
)
"""What comes after the answer: a further question, or the next turn."""

_SPACES = re.compile(r"[^\S\n]+")
_HEAD, _TAIL = 4_000, 60_000
"""A reply's characters that are looked at, from its start and its end; no answer needs more."""


def answer_texts(reply: Any) -> Iterator[str]:
    """Yield the parts of the folded reply to look for an answer in, in this order.

    The first is the reply without its reasoning, up to a further question that the model makes
    up. If no answer is there, and the reply poses no second question, then it was the question
    asked that it restated: the whole reply follows.
    """
    text, _ = split_reasoning("" if reply is None else str(reply))
    if len(text) > _HEAD + _TAIL:
        text = f"{text[:_HEAD]}\n{text[-_TAIL:]}"
    text = fold(text)
    if "  " in text or not text.isascii():  # else there is nothing that it would change
        text = _SPACES.sub(" ", text)
    own, *others = _NEXT.split(text, maxsplit=2)
    yield own
    if len(others) == 1:
        yield text
