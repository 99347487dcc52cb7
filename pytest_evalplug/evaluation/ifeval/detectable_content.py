"""Instructions ``detectable_content:...``: placeholders and postscripts."""

from __future__ import annotations

__all__ = ["number_placeholders", "postscript"]

from pytest_evalplug.evaluation.ifeval.common import pattern

_POSTSCRIPTS = {"P.S.": r"p\.\s?s\.", "P.P.S": r"p\.\s?p\.\s?s"}


def number_placeholders(reply: str, *, num_placeholders: int) -> bool:
    """The reply has at least ``num_placeholders`` texts in square brackets, each on one line."""
    return sum(map(_placeholders, reply.split("\n"))) >= num_placeholders


def _placeholders(line: str) -> int:
    # A bracket that never closes would be looked for again from each "[" by a regular expression.
    count = end = 0
    while (start := line.find("[", end)) >= 0 and (end := line.find("]", start) + 1):
        count += 1
    return count


def postscript(reply: str, *, postscript_marker: str) -> bool:
    """``postscript_marker`` occurs, whatever its case; ``P.S.`` and ``P.P.S`` may hold spaces."""
    marker = postscript_marker.strip()
    wanted = _POSTSCRIPTS.get(marker, marker.lower())
    return pattern(wanted).search(reply.lower()) is not None
