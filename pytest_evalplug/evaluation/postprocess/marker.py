"""The part of a reply that is marked as its answer."""

from __future__ import annotations

__all__ = ["after", "boxed", "last_box", "last_box_span", "xml_tag"]

import re
from typing import Any

from pytest_evalplug.evaluation.postprocess.think import REASONING_TAG, without_reasoning
from pytest_evalplug.evaluation.registry import postprocessors

_TOKEN = re.compile(r"(?P<box>\\(?:boxed|fbox)\s{0,9}\{)|\\[{}\\]|[{}]")


@postprocessors.register("after")
def after(text: Any, marker: str, *, invalid: str = "") -> str:
    r"""Return what stands after the last ``marker``, stripped, or ``invalid`` if there is none.

    It is for references as for replies, so reasoning is looked at too: put ``think`` first.

    >>> after("4 + 4 = 8\n#### 8", marker="####")
    '8'
    """
    _, found, rest = str(text).rpartition(marker)
    return rest.strip() if found else invalid


@postprocessors.register("boxed")
def boxed(text: Any, *, invalid: str = "") -> str:
    r"""Return what the last closed ``\boxed{}`` holds, or ``invalid`` if there is none.

    The convention of MATH (Hendrycks et al. 2021, arXiv:2103.03874). A box within the reply's
    reasoning is no answer.

    >>> boxed(r"so \boxed{\frac{1}{2}}")
    '\\frac{1}{2}'
    """
    content = last_box(without_reasoning(text))
    return invalid if content is None else content.strip()


@postprocessors.register("xml-tag")
def xml_tag(text: Any, tag: str = "answer", *, invalid: str = "") -> str:
    r"""Return what the last closed ``<tag>`` holds, stripped, or ``invalid`` if there is none.

    If none is closed, what follows the last open one counts: replies are cut, or end there. Of
    tags within tags of the same name the inner one counts. Case and attributes don't matter, and
    tags within the reply's reasoning don't count, unless they are what is asked for.

    >>> xml_tag("<answer>A</answer> or rather <answer>\nB\n</answer>")
    'B'
    """
    name = re.escape(tag.strip("<>/ "))
    reply = (
        str(text) if REASONING_TAG.fullmatch(f"<{tag.strip('<>/ ')}>") else without_reasoning(text)
    )
    content: str | None = None
    start: int | None = None
    for found in re.finditer(rf"<(/)?{name}(?:\s[^<>]{{0,200}})?>", reply, re.IGNORECASE):
        if not found[1]:
            start = found.end()
        elif start is not None:
            content, start = reply[start : found.start()], None
    if content is None and start is not None:
        content = reply[start:]
    return invalid if content is None else content.strip()


def last_box(text: str) -> str | None:
    r"""Return the content of the last ``\boxed{}`` (or ``\fbox{}``) that is closed.

    An escaped brace is no brace.
    """
    span = last_box_span(text)
    return None if span is None else text[slice(*span)]


def last_box_span(text: str) -> tuple[int, int] | None:
    """Return where that content begins and ends."""
    span: tuple[int, int] | None = None
    starts: list[int | None] = []
    for token in _TOKEN.finditer(text):
        if token["box"]:
            starts.append(token.end())
        elif token[0] == "{":
            starts.append(None)
        elif token[0] == "}" and starts and (start := starts.pop()) is not None:
            span = (start, token.start())
    return span
