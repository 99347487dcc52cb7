"""The summary table: a row per dataset and metric, a column per model."""

from __future__ import annotations

__all__ = ["Table", "build_table"]

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tabulate import tabulate

from pytest_evalplug.run.directory import RunDirectory
from pytest_evalplug.summary.averages import average_rows
from pytest_evalplug.summary.notes import notes_for, precision_lines
from pytest_evalplug.summary.rows import DatasetRef, Results, Row, dataset_rows, read_results


@dataclass(frozen=True, slots=True)
class Table:
    """Rows, and the lines that belong below them.

    ``hidden`` rows are known and not shown: a gate may ask for them.
    """

    models: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    precision: tuple[str, ...] = ()
    hidden: tuple[Row, ...] = ()

    def text(self) -> str:
        """Return the table as it stands in the terminal and in the ``.txt`` file."""
        return "\n".join([self._tabulate("simple"), *self._below("")])

    def markdown(self) -> str:
        """Return the table in GitHub's form, the notes as a list."""
        return "\n".join([self._tabulate("github"), *self._below("- ")])

    def csv(self) -> str:
        """Return the table alone, comma separated."""
        file = io.StringIO()
        csv.writer(file, lineterminator="\n").writerows([self._header(), *self._lines()])
        return file.getvalue()

    def to_wire(self) -> dict[str, Any]:
        """Return the table with unrounded values, n and standard errors, for JSON."""
        rows = []
        for row in self.rows:
            cells = zip(self.models, row.cells, strict=True)
            scores = {model: cell and asdict(cell) for model, cell in cells}
            rows.append(
                {
                    "dataset": row.dataset,
                    "version": row.version,
                    "metric": row.metric,
                    "mode": row.mode,
                    "scores": scores,
                }
            )
        return {"models": list(self.models), "rows": rows, "notes": list(self.notes)}

    def _header(self) -> list[str]:
        return [_line(name) for name in ("dataset", "version", "metric", "mode", *self.models)]

    def _lines(self) -> list[list[str]]:
        return [
            [
                *map(_line, (row.dataset, row.version, row.metric, row.mode)),
                *("-" if cell is None else f"{cell.value:.2f}" for cell in row.cells),
            ]
            for row in self.rows
        ]

    def _tabulate(self, form: str) -> str:
        lines = [self._header(), *self._lines()]
        if form == "github":
            lines = [[text.replace("|", "\\|") for text in line] for line in lines]
        return tabulate(
            lines[1:],
            headers=lines[0],
            tablefmt=form,
            disable_numparse=True,  # a version such as 12e456 is no number
            colalign=["left"] * 4 + ["right"] * len(self.models) if self.rows else None,
        )

    def _below(self, bullet: str) -> list[str]:
        lines: list[str] = []
        for block in (self.notes, self.precision):
            if block:
                lines += ["", *(bullet + _line(line) for line in block)]
        return lines


def build_table(run: RunDirectory, models: Sequence[str], datasets: Sequence[DatasetRef]) -> Table:
    """Read the results of ``models`` on ``datasets``, in that order, into a table."""
    results = read_results(run, models, datasets)
    rows = _rows(models, datasets, results)
    whole = {dataset.benchmark for dataset in datasets}  # the subsets' own would be too many
    return Table(
        tuple(models),
        tuple(rows),
        notes=tuple(notes_for(models, datasets, results)),
        precision=tuple(precision_lines(models, [row for row in rows if row.dataset in whole])),
    )


def _rows(models: Sequence[str], datasets: Sequence[DatasetRef], results: Results) -> list[Row]:
    """Return each dataset's rows, and after a benchmark's last one its averages."""
    last = {dataset.benchmark: dataset for dataset in datasets}
    rows: list[Row] = []
    for dataset in datasets:
        rows += dataset_rows(dataset.name, models, results)
        if len(dataset.subsets) > 1 and dataset is last[dataset.benchmark]:
            rows += average_rows(dataset, models, results)
    return rows


def _line(text: str) -> str:
    """Keep a name from breaking the table or the terminal."""
    return "".join(char if char.isprintable() else "?" for char in text)
