"""The four states in pytest's reports, and the exit status that follows from them."""

from __future__ import annotations

__all__ = [
    "Tally",
    "change_texts",
    "exit_reason",
    "exit_status",
    "finish_report",
    "hide_secrets",
    "status_of",
]

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from pytest_evalplug.errors import WrongAnswer
from pytest_evalplug.report.text import clean, clean_log

WRONG = "evalplug_wrong"
"""Attribute of a report whose test failed only because the answer is wrong."""
GATE = "evalplug_gate"
"""Attribute of a gate's report."""
EXPECTED = "wrong answer"


@dataclass(slots=True)
class Tally:
    """What the controller saw: wrong answers, gates, and everything else that failed."""

    wrong: int = 0
    failed: int = 0
    gates: int = 0

    def count(self, report: pytest.TestReport) -> None:
        """Take note of one report."""
        if is_wrong(report):
            self.wrong += 1
        elif report.failed and hasattr(report, GATE):
            self.gates += 1
        elif report.failed:
            self.failed += 1


def finish_report(
    report: pytest.TestReport,
    call: pytest.CallInfo[None],
    *,
    xfail: bool,
    hide: Callable[[str], str] = str,
) -> None:
    """Mark the report of a wrong answer; a few readable lines take the traceback's place.

    Whatever a sample's report quotes of a hostile reply, xdist can send it and a terminal show it;
    ``hide`` takes the secrets out.
    """
    wrong = call.excinfo is not None and isinstance(call.excinfo.value, WrongAnswer)
    if wrong:  # at first, so that nobody goes through the traceback
        setattr(report, WRONG, True)
        report.longrepr = str(call.excinfo.value)  # type: ignore[union-attr]
    hide_secrets(report, hide)
    _rewrite(report, clean_log)
    if wrong and xfail:
        report.outcome = "skipped"
        report.wasxfail = EXPECTED
    elif hasattr(report, "wasxfail"):
        report.wasxfail = clean(report.wasxfail)


def hide_secrets(
    report: pytest.TestReport | pytest.CollectReport, hide: Callable[[str], str]
) -> None:
    """Hide secrets in what a report quotes: a traceback with its variables, logs, output."""
    _rewrite(report, hide)


def _rewrite(
    report: pytest.TestReport | pytest.CollectReport, change: Callable[[str], str]
) -> None:
    if report.sections:
        report.sections = [(title, change(text)) for title, text in report.sections]
    report.longrepr = change_texts(report.longrepr, change)


def change_texts(found: Any, change: Callable[[str], str]) -> Any:
    """Return what pytest shows of a failure with all its texts changed; its objects stay the same.

    That is a text, a skip's file, line and reason, or the parts of a traceback. Of another
    plugin's object that can't be changed its text is left, as pytest-xdist sends it.
    """
    if isinstance(found, str):
        return change(found)
    try:
        if isinstance(found, (list, tuple)):
            make = getattr(found, "_make", type(found))  # a named tuple's
            return make(change_texts(part, change) for part in found)
        if hasattr(found, "toterminal"):
            for name, part in list(vars(found).items()):
                setattr(found, name, change_texts(part, change))
    except (AttributeError, TypeError):
        return change(str(found))
    return found


def is_wrong(report: pytest.TestReport) -> bool:
    """Tell whether the report says that an answer is wrong."""
    return bool(getattr(report, WRONG, False))


def status_of(report: pytest.TestReport) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
    """Return the terminal's category, letter and word for a wrong answer."""
    if is_wrong(report) and report.failed:
        return "wrong", "w", ("WRONG", {"yellow": True})
    return None


def exit_status(status: int, tally: Tally, *, strict: bool, maxfail: int, stopped: bool) -> int:
    """Return the session's exit status.

    Wrong answers alone are a measurement, so 0, unless ``strict``. A run that stopped early is
    never 0: ``-x`` and ``--maxfail`` give 1, also under xdist, which would say "interrupted".
    Gates stop nothing: they come last.
    """
    reached = bool(maxfail) and tally.wrong + tally.failed >= maxfail
    if status == pytest.ExitCode.INTERRUPTED and (reached or stopped):
        return pytest.ExitCode.TESTS_FAILED
    failed = tally.failed or tally.gates
    measured = tally.wrong and not (failed or strict or reached or stopped)
    if status == pytest.ExitCode.TESTS_FAILED and measured:
        return pytest.ExitCode.OK
    return status


def exit_reason(status: int, tally: Tally, *, strict: bool) -> str:
    """Return in a few words why the session ends with ``status``."""
    if status == pytest.ExitCode.OK:
        return "passed"
    if status != pytest.ExitCode.TESTS_FAILED:
        known = {code.value: code.name.lower().replace("_", " ") for code in pytest.ExitCode}
        return known.get(status, "unknown")
    counts = {
        "failed or not measured": tally.failed,
        "failed gates": tally.gates,
        "wrong": tally.wrong if strict else 0,
    }
    found = ", ".join(f"{what}: {count}" for what, count in counts.items() if count)
    return found or "stopped or incomplete"
