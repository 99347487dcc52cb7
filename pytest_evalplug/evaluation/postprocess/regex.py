"""What an author's own regular expression finds in a reply."""

from __future__ import annotations

__all__ = ["find_matches", "regex"]

import re
from typing import Any, Literal

from pytest_evalplug.errors import ConfigError
from pytest_evalplug.evaluation.registry import postprocessors


@postprocessors.register("regex", "match_answer_pattern")
def regex(
    text: Any,
    pattern: str,
    *,
    group: int | str | None = None,
    which: Literal["first", "last"] = "first",
    invalid: str = "",
) -> str:
    r"""Return what the first or last match of ``pattern`` found, ``invalid`` if there is none.

    ``group`` is a group's number or name, 0 the whole match; without it the first group that
    holds something counts, or the whole match of a pattern without groups. Raises ConfigError for
    a pattern that is none, and for a group that it lacks.

    The time is the pattern's: nested repeats such as ``(\d+,?)+x`` may take exponential time on
    a hostile reply. Bounded repeats (``\d{1,9}``) of what can't match in two ways are linear.

    >>> regex("A: 3. No, A: 4.", r"A: (\d+)", which="last")
    '4'
    """
    if which not in ("first", "last"):
        raise ConfigError(f"regex: which is {which!r}", fix="Use 'first' or 'last'")
    matches = find_matches(pattern, text, group)
    return matches[0 if which == "first" else -1] if matches else invalid


def find_matches(pattern: str, text: Any, group: int | str | None = None) -> list[str]:
    """Return what each match of ``pattern`` found, stripped, as :func:`regex` describes it."""
    try:
        found = re.finditer(pattern, "" if text is None else str(text))
        return [_captured(match, group).strip() for match in found]
    except (re.error, IndexError) as error:
        raise ConfigError(f"regex: {error} in pattern {pattern!r}") from None


def _captured(match: re.Match[str], group: int | str | None) -> str:
    if group is not None:
        return match[group] or ""
    return next(filter(None, match.groups()), "") if match.re.groups else match[0]
