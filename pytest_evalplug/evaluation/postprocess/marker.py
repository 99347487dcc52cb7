"""The part of a reply that is marked as its answer."""

from __future__ import annotations

__all__ = ["after", "boxed", "last_box"]

from typing import Any

from pytest_evalplug.evaluation.registry import postprocessors


@postprocessors.register("after")
def after(text: Any, marker: str, *, invalid: str = "") -> str:
    r"""Return what stands after the last ``marker``, stripped, or ``invalid`` if there is none.

    >>> after("4 + 4 = 8\\n#### 8", marker="####")
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
    r"""Return the content of the last ``\boxed{}`` (or ``\fbox{}``) that is closed."""
    result: str | None = None
    stack: list[int | None] = []
    for i, char in enumerate(text):
        if char == "{":
            opens = text.endswith(("\\boxed", "\\fbox", "\\boxed ", "\\fbox "), 0, i)
            stack.append(i + 1 if opens else None)
        elif char == "}" and stack:
            start = stack.pop()
            if start is not None:
                result = text[start:i]
    return result
