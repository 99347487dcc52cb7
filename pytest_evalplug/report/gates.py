"""Each gate as a reported test of its own, so that every report and the exit status has it."""

from __future__ import annotations

__all__ = ["gate_lines", "gate_names", "report_gates"]

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import pytest

from pytest_evalplug.report.outcome import GATE
from pytest_evalplug.report.text import clean
from pytest_evalplug.summary.gates import GateResult

_Outcome: TypeAlias = Literal["passed", "failed", "skipped"]
_PHASES: tuple[Literal["setup", "call", "teardown"], ...] = ("setup", "call", "teardown")
PLACE = "evalplug/gates"
"""Where the gates' tests seem to lie; ``evalplug.gates`` is their class in JUnit XML."""


def report_gates(
    config: pytest.Config, session: pytest.Session, results: Sequence[GateResult]
) -> None:
    """Send the reports of one test for each gate and model. Only in the controlling process."""
    session.testscollected += len(results)  # or the progress would go above 100 %
    stop_after, config.option.maxfail = config.option.maxfail, 0  # nothing is left to stop
    try:
        for result, name in zip(results, gate_names(results), strict=True):
            _report(config, result, name)
    finally:
        config.option.maxfail = stop_after


def gate_lines(results: Sequence[GateResult]) -> list[str]:
    """Return a line for each gate."""
    return [
        f"{result.outcome:<7} {name}: {_one_line(result.message)}"
        for result, name in zip(results, gate_names(results), strict=True)
    ]


def gate_names(results: Sequence[GateResult]) -> list[str]:
    """Return what the gates are called; with the model, where there are several."""
    several = len({result.model for result in results if result.model}) > 1
    return [_one_line(f"{r.gate} [{r.model}]" if several and r.model else r.gate) for r in results]


def _report(config: pytest.Config, result: GateResult, name: str) -> None:
    nodeid = f"{PLACE}::{name}"
    location = (PLACE, None, f"gate {name}")
    properties = [(key, value) for key, value in _properties(result) if value is not None]
    # no later session can begin at a gate, or run it again
    cached = map(config.pluginmanager.get_plugin, ("stepwiseplugin", "lfplugin"))
    logreport = config.pluginmanager.subset_hook_caller(
        "pytest_runtest_logreport", [plugin for plugin in cached if plugin is not None]
    )
    config.hook.pytest_runtest_logstart(nodeid=nodeid, location=location)
    passed: tuple[_Outcome, Any] = ("passed", None)
    for when in _PHASES:
        outcome, longrepr = _outcome(result) if when == "call" else passed
        report = pytest.TestReport(
            nodeid=nodeid,
            location=location,
            keywords={},
            outcome=outcome,
            longrepr=longrepr,
            when=when,
            user_properties=properties,
        )
        setattr(report, GATE, True)
        logreport(report=report)
    config.hook.pytest_runtest_logfinish(nodeid=nodeid, location=location)


def _outcome(result: GateResult) -> tuple[_Outcome, Any]:
    message = _one_line(result.message)
    if result.outcome == "passed":
        return "passed", None
    if result.outcome == "failed":
        return "failed", message
    return "skipped", (PLACE, 0, f"Skipped: {message}")


def _properties(result: GateResult) -> list[tuple[str, Any]]:
    return [
        ("model", clean(result.model) or None),
        ("value", result.value),
        ("n", result.n),
        ("message", _one_line(result.message)),
    ]


def _one_line(text: str) -> str:
    return " ".join(clean(text).split())
