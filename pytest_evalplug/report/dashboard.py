"""The summary as one JSON file, for dashboards."""

from __future__ import annotations

__all__ = ["SCHEMA", "write_dashboard"]

import math
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pytest_evalplug.run.jsonio import dumps, write_atomic
from pytest_evalplug.summary.gates import GateResult
from pytest_evalplug.summary.rows import Row
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
    rows = [_row(table, row, shown=True) for row in table.rows] if table else []
    rows += [_row(table, row, shown=False) for row in table.hidden] if table else []
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
        "models": list(table.models) if table else [],
        "rows": rows,
        "gates": [_finite(asdict(gate)) for gate in gates],
        "notes": [*(table.notes if table else ()), *notes],
    }
    write_atomic(path, dumps(wire) + "\n")


def _row(table: Table, row: Row, *, shown: bool) -> dict[str, Any]:
    cells = zip(table.models, row.cells, strict=True)
    return {
        "dataset": row.dataset,
        "version": row.version,
        "metric": row.metric,
        "mode": row.mode,
        "shown": shown,
        "scores": {model: cell and _finite(asdict(cell)) for model, cell in cells},
    }


def _finite(numbers: Mapping[str, Any]) -> dict[str, Any]:
    """Return null for what JSON has no number for."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in numbers.items()
    }
