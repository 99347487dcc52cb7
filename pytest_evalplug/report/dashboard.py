"""The summary as one JSON file, for dashboards."""

from __future__ import annotations

__all__ = ["SCHEMA", "write_dashboard"]

import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pytest_evalplug.report.strict import strict_json
from pytest_evalplug.run.jsonio import write_atomic
from pytest_evalplug.summary.gates import GateResult
from pytest_evalplug.summary.table import Table

SCHEMA = 1
"""Grows when a name changes its meaning or goes; new names alone don't count."""


def write_dashboard(
    path: Path,
    run: Path,
    table: Table | None,
    gates: Sequence[GateResult],
    notes: Sequence[str],
    *,
    about: Mapping[str, Any],
    started: datetime | None = None,
) -> None:
    """Write all numbers of a run, and ``about`` what else is known. Raises OSError.

    docs/ci.md describes the file.
    """
    summary = table.to_wire() if table else {"models": [], "rows": [], "notes": [], "hidden": []}
    wire = {
        "schema": SCHEMA,
        "run": run.name,
        "path": str(run.absolute()),
        "started": started and started.astimezone().isoformat(timespec="seconds"),
        "finished": datetime.now().astimezone().isoformat(timespec="seconds"),
        "versions": {
            "python": platform.python_version(),
            "pytest": version("pytest"),
            "pytest-evalplug": version("pytest-evalplug"),
        },
        **about,
        **summary,
        "gates": [asdict(gate) for gate in gates],
        "notes": [*summary["notes"], *notes],
    }
    write_atomic(path, strict_json(wire) + "\n")
