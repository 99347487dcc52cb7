"""The regular-expression filter under the name and the arguments that EvalScope's users know."""

from __future__ import annotations

__all__ = ["RegexFilter"]

from typing import Any

from pytest_evalplug.evaluation.postprocess.regex import find_matches


class RegexFilter:
    r"""Finds a match of ``regex_pattern`` in a reply: an ``extract_answer`` may call it.

    Of all matches the one at position ``group_select`` counts (0 the first, -1 the last), and of
    its groups the first that holds something. ``fallback`` is what a reply without it gives.
    What a pattern may cost: see the postprocessor ``regex``.

    >>> RegexFilter(r"(-?[0-9.,]{2,})|(-?[0-9]+)", group_select=-1)("3 + 4 is 1,000")
    '1,000'
    """

    def __init__(self, regex_pattern: str, group_select: int = 0, fallback: str = "") -> None:
        self.regex_pattern = regex_pattern
        self.group_select = group_select
        self.fallback = fallback

    def __call__(self, text: Any) -> str:
        """Return what was found, or ``fallback``. Raises ConfigError for a pattern that is none."""
        matches = find_matches(self.regex_pattern, text)
        try:
            return matches[self.group_select]
        except IndexError:
            return self.fallback
