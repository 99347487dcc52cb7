"""The part of a reply that is marked as its answer."""

from __future__ import annotations

__all__ = ["after", "boxed", "last_box"]

import re
from typing import Any

from pytest_evalplug.evaluation.registry import postprocessors

_TOKEN = re.compile(r"(?P<box>\\(?:boxed|fbox)\s{0,9}\{)|\\[{}\\]|[{}]")


@postprocessors.register("after")
def after(text: Any, marker: str, *, invalid: str = "") -> str:
    r"""Return what stands after the last ``marker``, stripped, or ``invalid`` if there is none.

    >>> after("4 + 4 = 8\n#### 8", marker="####")
    '8'
    """
    _, found, rest = str(text).rpartition(marker)
    return rest.strip() if found else invalid


@postprocessors.register("boxed")
def boxed(text: Any, *, invalid: str = "") -> str:
    r"""Return what the last closed ``\boxed{}`` holds, or ``invalid`` if there is none.

    >>> boxed(r"so \boxed{\frac{1}{2}}")
    '\\frac{1}{2}'
    """
    content = last_box(str(text))
    return invalid if content is None else content.strip()


def last_box(text: str) -> str | None:
    r"""Return the content of the last ``\boxed{}`` (or ``\fbox{}``) that is closed.

    An escaped brace is no brace.
    """
    result: str | None = None
    starts: list[int | None] = []
    for token in _TOKEN.finditer(text):
        if token["box"]:
            starts.append(token.end())
        elif token[0] == "{":
            starts.append(None)
        elif token[0] == "}" and starts and (start := starts.pop()) is not None:
            result = text[start : token.start()]
    return result
