"""Checks as lines of a terminal, and as JSON."""

from __future__ import annotations

__all__ = ["as_json", "as_text"]

import json
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import asdict

from pytest_evalplug.doctor.check import Check
from pytest_evalplug.report.text import clean

_COLOURS = {"ok": "32", "warn": "33", "problem": "31;1"}


def as_text(checks: Sequence[Check], *, width: int, colours: bool) -> str:
    """Return a line for each check, aligned and wrapped, and one that counts them."""
    states = max(map(len, _COLOURS))
    names = max(len(check.name) for check in checks)
    indent = " " * (states + names + 4)
    lines = []
    for check in checks:
        state = check.state.ljust(states)
        if colours:
            state = f"\x1b[{_COLOURS[check.state]}m{state}\x1b[0m"
        texts = [check.text, *([f"-> {check.fix}"] if check.fix else [])]
        rows = [
            row
            for text in texts
            for row in textwrap.wrap(
                clean(text),
                max(40, width - len(indent)),
                break_on_hyphens=False,
                break_long_words=False,
            )
        ]
        lines.append(
            f"{state}  {clean(check.name).ljust(names)}  {f'{chr(10)}{indent}'.join(rows)}"
        )
    return "\n".join([*lines, "", _total(checks)])


def _total(checks: Sequence[Check]) -> str:
    counts = {state: sum(check.state == state for check in checks) for state in _COLOURS}
    if not counts["warn"] and not counts["problem"]:
        return f"{_counted(len(checks), 'check')}, nothing wrong"
    parts = [(counts["problem"], "problem"), (counts["warn"], "warning")]
    said = [_counted(count, word) for count, word in parts if count]
    return f"{_counted(len(checks), 'check')}, {', '.join(said)}"


def _counted(count: int, word: str) -> str:
    return f"{count} {word}{'s' * (count != 1)}"


def as_json(checks: Sequence[Check], hide: Callable[[str], str]) -> str:
    """Return a list of objects to send along with a question; ``hide`` takes the secrets out."""
    facts = [{key: hide(value) for key, value in asdict(check).items()} for check in checks]
    return json.dumps(facts, ensure_ascii=False, indent=2)
