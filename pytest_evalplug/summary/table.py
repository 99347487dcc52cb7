"""The summary table: a row per dataset and metric, a column per model."""

from __future__ import annotations

__all__ = ["Table", "markdown_text"]

import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tabulate import tabulate

from pytest_evalplug.summary.layouts import Grid, Layout, by_model, full, plain
from pytest_evalplug.summary.rows import Row
from pytest_evalplug.summary.usage import ModelUsage

_MARKUP = str.maketrans({char: f"&#{ord(char)};" for char in "&<>[]*`~"})
"""What Markdown or HTML in a name could be made of. Pipes are the table's, which escapes them."""
_FORMULA = re.compile(r"[=@]|[+-](?![\d.,%±() ]*$)")


def markdown_text(text: str) -> str:
    """Return a line of text so that Markdown shows it as it is."""
    return text.translate(_MARKUP)


@dataclass(frozen=True, slots=True)
class Table:
    """Rows, and the lines that belong below them.

    ``hidden`` rows are known and not shown: a gate may ask for them, and says what
    ``hidden_notes`` tell of them. ``layout`` says how the text, Markdown and CSV look; the JSON is
    always the same.
    """

    models: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    hidden: tuple[Row, ...] = ()
    hidden_notes: tuple[str, ...] = ()
    layout: Layout = by_model
    usage: tuple[ModelUsage, ...] = ()

    def text(self, *, verbose: bool = False) -> str:
        """Return the table as it stands in the terminal and in the ``.txt`` file.

        ``verbose`` adds the standard error, the 95 % interval and n to each value.
        """
        grids = self.layout(self.models, self.rows, full if verbose else plain)
        return "\n".join([*_blocks(grids, "simple", "{}"), *self._below("")])

    def markdown(self) -> str:
        """Return the table in GitHub's form, the notes as a list."""
        grids = self.layout(self.models, self.rows, plain)
        below = map(markdown_text, self._below("- "))
        return "\n".join([*_blocks(grids, "github", "### {}\n"), *below])

    def csv(self) -> str:
        """Return the table alone, comma separated; no name is a formula to a spreadsheet."""
        grids = self.layout(self.models, self.rows, plain)
        return "\n".join(_csv(grid) for grid in grids)

    def to_wire(self) -> dict[str, Any]:
        """Return the table with unrounded values, n, standard errors and intervals, for JSON."""
        return {
            "models": list(self.models),
            "rows": self._wire_rows(self.rows),
            "notes": list(self.notes),
            "usage": [one.to_wire() for one in self.usage],
            "hidden": self._wire_rows(self.hidden),
        }

    def _wire_rows(self, rows: Iterable[Row]) -> list[dict[str, Any]]:
        return [
            {
                "dataset": row.dataset,
                "version": row.version,
                "metric": row.metric,
                "mode": row.mode,
                "scale": row.scale,
                "scores": {
                    model: cell and asdict(cell)
                    for model, cell in zip(self.models, row.cells, strict=True)
                },
            }
            for row in rows
        ]

    def _below(self, bullet: str) -> list[str]:
        lines = [*self.notes, *(one.line() for one in self.usage)]
        return ["", *(bullet + _line(line) for line in lines)] if lines else []


def _blocks(grids: Iterable[Grid], form: str, title: str) -> Iterable[str]:
    for number, grid in enumerate(grids):
        if number:
            yield ""
        if grid.title:
            name = _line(grid.title)
            yield title.format(markdown_text(name) if form == "github" else name)
        yield _tabulate(grid, form)


def _tabulate(grid: Grid, form: str) -> str:
    lines = _texts(grid)
    if form == "github":
        lines = [[markdown_text(text).replace("|", "\\|") for text in line] for line in lines]
    columns = ["right" if i in grid.numbers else "left" for i in range(len(grid.header))]
    return tabulate(
        lines[1:],
        headers=lines[0],
        tablefmt=form,
        disable_numparse=True,  # a version such as 12e456 is no number
        colalign=columns if grid.lines else None,
    )


def _csv(grid: Grid) -> str:
    file = io.StringIO()
    lines = [list(map(_no_formula, line)) for line in _texts(grid)]
    csv.writer(file, lineterminator="\n").writerows(lines)
    return file.getvalue()


def _no_formula(text: str) -> str:
    return f"'{text}" if _FORMULA.match(text) else text


def _texts(grid: Grid) -> Sequence[list[str]]:
    return [[_line(text) for text in line] for line in (grid.header, *grid.lines)]


def _line(text: str) -> str:
    """Keep a name from breaking the table or the terminal."""
    return "".join(char if char.isprintable() else "?" for char in text)
