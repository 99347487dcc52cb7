"""Are a server's log-probabilities usable? One known text tells, before anything is measured."""

from __future__ import annotations

__all__ = ["TRIAL_TEXT", "fault_of"]

import math
from statistics import median

from pytest_evalplug.model.api_likelihood import Echo

# Days that any model can go on with, and a word that none expects.
TRIAL_TEXT = (
    "Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday, Monday, Tuesday, Wednesday, "
    "Thursday, Friday, Saturday, Sunday, Monday, volcano"
)


def fault_of(echo: Echo | str) -> str:
    """Return what is wrong with the reply to ``TRIAL_TEXT``, as "the server ..."; else nothing.

    Only the first token has no log-probability; the others' are finite, not above 0, not all
    alike, and the last word is less likely than the days before it.
    """
    if isinstance(echo, str):
        return echo
    words = len(TRIAL_TEXT.split())
    if len(echo.texts) < words:
        return f"makes {len(echo.texts)} tokens of a text of {words} words"
    first, *values = echo.logprobs
    if all(value is None for value in values):
        return "gives null in the place of the prompt's log-probabilities"
    known = [value for value in values if value is not None and -math.inf < value <= 1e-3]
    if first is not None or len(known) < len(values):
        return f"gives log-probabilities that are none: {[first, *values[:8]]}"
    if max(known) - min(known) < 1e-6:
        return f"gives every token the same log-probability, {known[0]:g}"
    quarter = len(known) // 4
    if min(known[-quarter:]) >= median(known[quarter:-quarter]):
        return (
            "finds 'volcano' as likely as a day after the days of the week: are its "
            "log-probabilities those of the tokens it names?"
        )
    return ""
