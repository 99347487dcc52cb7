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

from pytest_evalplug.evaluation.ifeval.common import pattern

_OPTIONS = ("My answer is yes.", "My answer is no.", "My answer is maybe.")
_FENCES = ("```json", "```Json", "```JSON", "```")
_SPACE = re.compile(r"\s*")
_STAR, _DASH = re.compile(r"\*[^*].*"), re.compile(r"-.*")


def number_bullet_lists(reply: str, *, num_bullets: int) -> bool:
    """Exactly ``num_bullets`` lines begin with ``-``, or with a ``*`` that no other follows."""
    return _bullets(reply, _STAR) + _bullets(reply, _DASH) == num_bullets


def _bullets(reply: str, bullet: re.Pattern[str]) -> int:
    r"""Count matches of ``^\s*bullet$`` over all lines, in linear time.

    ``[^*]`` of a lone ``*`` takes the newline, and so the next line with it.
    """
    count = position = 0
    while True:
        start = _SPACE.match(reply, position).end()  # type: ignore[union-attr]  # it always matches
        found = bullet.match(reply, start)
        count += found is not None
        position = reply.find("\n", found.end() if found else start) + 1
        if not position:
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
