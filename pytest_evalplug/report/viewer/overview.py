"""What the page knows of a run before any sample: its table, its notes, what each dataset has."""

from __future__ import annotations

__all__ = ["GATES", "overview", "table_key"]

import json
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from pytest_evalplug.run.results import ResultFile
from pytest_evalplug.run.saved_run import SavedRun
from pytest_evalplug.summary.rows import dataset_rows
from pytest_evalplug.summary.table import Table

GATES = "gates.json"
"""In the run's report folder: what came of its gates."""
_NOT_SHOWN = ("details", "other")


def table_key(number: int) -> str:
    """Return what the ``number``-th of a run's tables is called in names of blocks."""
    return f"t{number}"


def overview(run: SavedRun, state: str = "finished") -> dict[str, Any]:
    """Return a run as plain JSON types; ``tables`` are in the order of ``run.tables()``.

    The rows, notes and gates are those of its last summary; a run without one, as another tool's,
    gets rows from its results. ``state`` is finished, running or stopped.
    """
    found = [run.result(model, dataset, details=False) for model, dataset in run.tables()]
    results = [result for result in found if result is not None]
    summary = _last_summary(run) or _own_summary(results)
    _tell_percent(summary["rows"])
    return {
        "name": run.name,
        "state": state,
        **summary,
        "gates": _gates(run),
        "tables": [
            {"key": table_key(number), **_head(result)}
            for number, result in enumerate(found)
            if result is not None
        ],
    }


def _tell_percent(rows: list[dict[str, Any]]) -> None:
    """Add to each row whether its scale is percent."""
    for row in rows:
        row["percent"] = row.get("scale") == 100


def _head(result: ResultFile) -> dict[str, Any]:
    return {f.name: getattr(result, f.name) for f in fields(result) if f.name not in _NOT_SHOWN}


def _last_summary(run: SavedRun) -> dict[str, Any] | None:
    paths = list((run.path / "summary").glob("summary_*.json"))
    if not paths:
        return None
    newest = max(paths, key=lambda path: path.stat().st_mtime_ns)
    try:
        summary = json.loads(newest.read_text(encoding="utf-8"))
        return {
            "models": [str(model) for model in summary["models"]],
            "rows": [_row(row) for row in summary["rows"]],
            "notes": list(summary.get("notes", [])),
        }
    except (
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        RecursionError,
    ):  # another tool's, or damaged
        return None


def _row(row: Any) -> dict[str, Any]:
    """Return a row of which the page can be sure what it has; TypeError for any other."""
    texts = isinstance(row["dataset"], str) and isinstance(row["metric"], str)
    cells = (cell is None or isinstance(cell, dict) for cell in row["scores"].values())
    if not (texts and all(cells)):
        raise TypeError("no row of a summary")
    return dict(row)


def _gates(run: SavedRun) -> list[Any]:
    try:
        found = json.loads((run.path / "report" / GATES).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return []
    return found if isinstance(found, list) else []


def _own_summary(results: Sequence[ResultFile]) -> dict[str, Any]:
    models = tuple(dict.fromkeys(result.model for result in results))
    by_key = {(result.model, result.dataset): result for result in results}
    datasets = dict.fromkeys(result.dataset for result in results)
    rows = [row for dataset in datasets for row in dataset_rows(dataset, models, by_key)]
    wire = Table(models, tuple(rows)).to_wire()
    return {"models": list(models), "rows": wire["rows"], "notes": []}
