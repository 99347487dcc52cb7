"""How the rows of a summary are laid out as texts in lines and columns."""

from __future__ import annotations

__all__ = [
    "Facets",
    "Grid",
    "Layout",
    "ReportTable",
    "Show",
    "by_model",
    "circular",
    "full",
    "plain",
]

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

from pytest_evalplug.summary.rows import Cell, Row

Show: TypeAlias = Callable[[Cell | None], str]
"""Turns a cell into text."""


@dataclass(frozen=True, slots=True)
class Grid:
    """A header and lines below it; the columns ``numbers`` are aligned to the right."""

    header: Sequence[str]
    lines: Sequence[Sequence[str]]
    numbers: range
    title: str = ""


class Layout(Protocol):
    """Lays rows out; may make several grids of them."""

    def __call__(self, models: Sequence[str], rows: Sequence[Row], show: Show) -> Sequence[Grid]:
        """Return what is printed, one below the other."""


def plain(cell: Cell | None) -> str:
    """Return the value alone, with two decimals."""
    return "-" if cell is None else f"{cell.value:.2f}"


def full(cell: Cell | None) -> str:
    """Return the value with what is known of how sure it is, ``80.00 ± 2.31 [75.5, 84.5] n=300``.

    That is the standard error, the 95 % interval and the number of samples.
    """
    if cell is None:
        return "-"
    text = plain(cell)
    if cell.stderr is not None:
        text += f" ± {cell.stderr:.2f}"
    if cell.interval is not None:
        text += " [{:.2f}, {:.2f}]".format(*cell.interval)
    return f"{text} n={cell.n}"


def by_model(models: Sequence[str], rows: Sequence[Row], show: Show = plain) -> list[Grid]:
    """Return OpenCompass's table: a line a row, a column a model."""
    lines = [
        [row.dataset, row.version, row.metric, row.mode, *map(show, row.cells)] for row in rows
    ]
    header = ["dataset", "version", "metric", "mode", *models]
    return [Grid(header, lines, range(4, len(header)))]


def circular(models: Sequence[str], rows: Sequence[Row], show: Show = plain) -> list[Grid]:
    """Return OpenCompass's table of circular evaluation: a line a dataset, a column a metric.

    The columns of each model stand side by side, the metrics' names in the first line.
    """
    metrics = list(dict.fromkeys(row.metric for row in rows if row.metric != "-")) or ["-"]
    found: dict[tuple[str, str, str], dict[str, Row]] = {}
    for row in rows:
        found.setdefault((row.dataset, row.version, row.mode), {})[row.metric] = row
    header = ["dataset", "version", "mode"]
    for model in models:
        header += [model, *["-"] * (len(metrics) - 1)]
    lines = [["-", "-", "-", *metrics * len(models)]]
    for key, by_metric in found.items():
        cells = [
            by_metric[metric].cells[column] if metric in by_metric else None
            for column in range(len(models))
            for metric in metrics
        ]
        lines.append([*key, *map(show, cells)])
    return [Grid(header, lines, range(3, len(header)))]


@dataclass(frozen=True, slots=True)
class Facets:
    """Lays out several tables, each with its name and rows of its own."""

    parts: Mapping[str, Sequence[Row]]

    def __call__(
        self, models: Sequence[str], rows: Sequence[Row], show: Show = plain
    ) -> list[Grid]:
        """Return a grid for each part that has rows."""
        return [
            replace(grid, title=name)
            for name, part in self.parts.items()
            if part
            for grid in by_model(models, part, show)
        ]


@dataclass(frozen=True, slots=True)
class ReportTable:
    """Lays rows out as EvalScope does: a line for each model, dataset, metric and subset.

    ``places`` says for a dataset which subset of which benchmark it is; ``categories`` in which
    group it is.
    """

    places: Mapping[str, tuple[str, str]]
    categories: Mapping[str, str]

    def __call__(
        self, models: Sequence[str], rows: Sequence[Row], show: Show = plain
    ) -> list[Grid]:
        """Return one grid; values of benchmarks and groups have the subset ``OVERALL``."""
        header = ["Model", "Dataset", "Metric", "Subset", "Num", "Score", "Cat.0"]
        lines = [
            self._line(model, row, row.cells[column])
            for column, model in enumerate(models)
            for row in rows
        ]
        return [Grid(header, lines, range(4, 6))]

    def _line(self, model: str, row: Row, cell: Cell | None) -> list[str]:
        dataset, subset = self.places.get(row.dataset, (row.dataset, "OVERALL"))
        category = "-" if subset == "OVERALL" else "default"
        number = score = "-"
        if cell is not None:
            number, score = str(cell.n), f"{cell.value / row.scale:.4f}"
        category = self.categories.get(row.dataset, category)
        return [model, dataset, row.metric, subset, number, score, category]
