"""What a CI server reads of a session: JUnit XML, the job's summary, JSON for dashboards."""

from __future__ import annotations

__all__ = ["end_session", "junit_file", "write_outputs"]

import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from pytest_evalplug.errors import EvalplugError
from pytest_evalplug.finish import Outcome
from pytest_evalplug.options import RunConfig
from pytest_evalplug.report.dashboard import write_dashboard
from pytest_evalplug.report.junit import complete_junit
from pytest_evalplug.report.outcome import Tally, exit_reason
from pytest_evalplug.report.step_summary import add_step_summary


def end_session(
    session: pytest.Session,
    config: RunConfig,
    outcome: Outcome,
    tally: Tally,
    started: datetime,
) -> None:
    """Write what is asked for, the exit status as it is now in it; fail the session if need be.

    pytest's own reports are written by then.
    """
    if outcome.failed and not session.exitstatus:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    status = int(session.exitstatus)
    write_outputs(
        config,
        outcome,
        junit=junit_file(session.config),
        started=started,
        exit={
            "status": status,
            "reason": exit_reason(status, tally, strict=config.strict),
            "wrong": tally.wrong,
            "failed": tally.failed,
            "failed_gates": tally.gates,
        },
    )
    if outcome.failed and not session.exitstatus:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def junit_file(config: pytest.Config) -> Path | None:
    """Return where ``--junitxml`` wants its file, as pytest reads it, or None."""
    given = getattr(config.option, "xmlpath", None)
    if not given:
        return None
    return config.invocation_params.dir / Path(os.path.expandvars(given)).expanduser()


def write_outputs(
    config: RunConfig,
    outcome: Outcome,
    *,
    junit: Path | None,
    started: datetime,
    exit: Mapping[str, Any],
) -> None:
    """Write what is asked for; what can't be written becomes a note of ``outcome``, or fails it.

    ``junit`` is the file that pytest has just written, if any; ``exit`` is how the session ends.
    """
    table, run = outcome.table, outcome.run
    if junit is not None and table is not None:
        try:
            complete_junit(junit, table, strict=config.junit == "strict")
        except (EvalplugError, OSError) as error:
            outcome.fail(f"no scores in the JUnit XML: {error}")
    if table is not None:
        problem = add_step_summary(run.name, table, outcome.gates, outcome.notes)
        outcome.notes += [problem] if problem else []
    if config.json_file is not None:
        about = {
            "stage": config.stage,
            "mode": config.eval_mode,
            "shard": list(config.shard) if config.shard else None,
            "exit": exit,
        }
        try:
            write_dashboard(
                config.json_file,
                run.path,
                table,
                outcome.gates,
                outcome.notes,
                about=about,
                started=started,
            )
        except EvalplugError as error:
            outcome.fail(f"--eval-json: {error}")
