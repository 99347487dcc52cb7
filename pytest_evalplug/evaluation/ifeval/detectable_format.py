"""Instructions ``detectable_format:...``: bullets, highlights, sections, titles, JSON, options."""

from __future__ import annotations

__all__ = [
    "constrained_response",
    "json_format",
    "multiple_sections",
    "number_bullet_lists",
    "number_highlighted_sections",
    "title",
]

import json
import re
from collections.abc import Sequence

from pytest_evalplug.evaluation.ifeval.common import pattern

_OPTIONS = ("My answer is yes.", "My answer is no.", "My answer is maybe.")
_FENCES = ("```json", "```Json", "```JSON", "```")


def number_bullet_lists(reply: str, *, num_bullets: int) -> bool:
    """Exactly ``num_bullets`` lines begin with ``-``, or with a ``*`` that no other follows."""
    lines = [line.lstrip() for line in reply.split("\n")]
    dashes = sum(1 for line in lines if line.startswith("-"))
    return dashes + _stars(lines) == num_bullets


def _stars(lines: Sequence[str]) -> int:
    count = 0
    remaining = iter(lines)
    for line in remaining:
        if line == "*":  # in the reference a line with nothing else takes in the next one
            count += next(remaining, None) is not None
        elif line.startswith("*") and not line.startswith("**"):
            count += 1
    return count


def number_highlighted_sections(reply: str, *, num_highlights: int) -> bool:
    """At least ``num_highlights`` texts stand between ``*`` and ``*``, or ``**`` and ``**``.

    Either kind is looked for on its own, from left to right.
    """
    single = re.findall(r"\*([^\n*]*)\*", reply)
    double = re.findall(r"\*\*([^\n*]*)\*\*", reply)
    return sum(1 for text in single + double if text.strip()) >= num_highlights


def multiple_sections(reply: str, *, section_spliter: str, num_sections: int) -> bool:
    """``section_spliter`` and a number stand in the reply at least ``num_sections`` times."""
    headings = pattern(section_spliter.strip(), after=r"\s?\d+").finditer(reply)
    return sum(1 for _ in headings) >= num_sections


def json_format(reply: str) -> bool:
    """The reply is JSON, bare or in a fence; what is nested too deep to be parsed is not."""
    text = reply.strip()
    for fence in _FENCES:
        text = text.removeprefix(fence)
    try:
        json.loads(text.removesuffix("```").strip())
    except (ValueError, RecursionError):
        return False
    return True


def title(reply: str) -> bool:
    """Some line has a title in ``<<`` and ``>>``."""
    return any(map(_has_title, reply.split("\n")))


def _has_title(line: str) -> bool:
    start, end = line.find("<<"), line.rfind(">>")
    if start < 0 or end < start + 3:
        return False
    return bool(line[start:end].lstrip("<").rstrip(">").strip())


def constrained_response(reply: str) -> bool:
    """The reply holds one of the three answers that the prompts allow."""
    return any(option in reply for option in _OPTIONS)
