"""The table in a GitHub Actions job's summary."""

from __future__ import annotations

__all__ = ["add_step_summary", "step_summary"]

import os
from collections.abc import Sequence
from pathlib import Path

from pytest_evalplug.report.gates import gate_lines
from pytest_evalplug.report.text import clean
from pytest_evalplug.summary.gates import GateResult
from pytest_evalplug.summary.table import Table, markdown_text


def add_step_summary(
    run: str, table: Table, gates: Sequence[GateResult], notes: Sequence[str]
) -> str | None:
    """Append the table to the file that ``$GITHUB_STEP_SUMMARY`` names, if it names one.

    Returns what kept it from being written, or None.
    """
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return None
    try:
        with Path(path).open("a", encoding="utf-8", newline="\n") as file:
            file.write(step_summary(run, table, gates, notes))
    except OSError as error:
        return f"no job summary: can't write {path}: {error.strerror or error}"
    return None


def step_summary(run: str, table: Table, gates: Sequence[GateResult], notes: Sequence[str]) -> str:
    """Return the table, the gates and the notes as Markdown."""
    blocks = [f"### Evaluation {run}", table.markdown()]
    if gates:
        lines = [f"- {markdown_text(line)}" for line in gate_lines(gates)]
        blocks.append("\n".join(["Gates:", "", *lines]))
    if notes:
        lines = [f"- {markdown_text(' '.join(clean(note).split()))}" for note in notes]
        blocks.append("\n".join(lines))
    return "".join(f"{block}\n\n" for block in blocks)
