"""Reasoning that a model writes before its answer."""

from __future__ import annotations

__all__ = ["REASONING_TAG", "split_reasoning", "think", "without_reasoning"]

import re
from typing import Any

from pytest_evalplug.evaluation.registry import postprocessors

REASONING_TAG = re.compile(
    r"<(?P<close>/?)(?:seed:)?(?:think|thinking|thought|reasoning)>"
    r"|\[(?P<close2>/?)THINK(?:ING)?\]"
    r"|\u25c1(?P<close3>/?)think\u25b7"
    r"|<\|(?P<mark>begin|end|start)_(?:of_thought|thinking)\|>",
    re.IGNORECASE,
)
_SOLUTION_TAG = re.compile(r"<\|(?:(?:begin|end)_of_solution|(?:START|END)_RESPONSE)\|>")
_CHANNEL = "<|channel|>"
_FINAL = re.compile(r"<\|channel\|>final\b[^<]{0,100}(?:<\|constrain\|>[^<]{0,100})?<\|message\|>")
_END = re.compile(r"<\|(?:return|end|start|call)\|>")


def split_reasoning(text: str) -> tuple[str, bool]:
    """Return ``text`` without its reasoning, and whether reasoning was cut off before its end.

    Blocks in ``<think>`` and the like may nest and repeat. A closing tag alone ends reasoning
    that began in the prompt; an opening tag alone means that nothing but reasoning follows. Of a
    reply in channels (OpenAI's harmony format) the last final message is kept.
    """
    if not any(sign in text for sign in "<[\u25c1"):
        return text, False
    if _CHANNEL in text:
        return _final_channel(text)
    kept: list[str] = []
    depth = position = 0
    for tag in REASONING_TAG.finditer(text):
        if depth == 0:
            kept.append(text[position : tag.start()])
        if not _closes(tag):
            depth += 1
        elif depth:
            depth -= 1
        else:
            kept.clear()
        position = tag.end()
    if depth == 0:
        kept.append(text[position:])
    return _SOLUTION_TAG.sub("", "".join(kept)), depth > 0


def without_reasoning(reply: Any) -> str:
    """Return the reply's text without its reasoning; ``None`` is empty text."""
    return split_reasoning("" if reply is None else str(reply))[0]


def _closes(tag: re.Match[str]) -> bool:
    return (
        "/" in (tag["close"], tag["close2"], tag["close3"]) or (tag["mark"] or "").lower() == "end"
    )


def _final_channel(text: str) -> tuple[str, bool]:
    starts = [match.end() for match in _FINAL.finditer(text)]
    if not starts:
        return "", True
    return _END.split(text[starts[-1] :], maxsplit=1)[0], False


@postprocessors.register("think")
def think(text: Any) -> str:
    """Return the reply without its reasoning; a reply cut inside its reasoning is empty.

    >>> think("<think>2+2=4</think>4")
    '4'
    """
    raw = "" if text is None else str(text)
    answer, _ = split_reasoning(raw)
    return answer if answer == raw else answer.strip()
