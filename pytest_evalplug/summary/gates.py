"""Gates: scores that a run has to reach."""

from __future__ import annotations

__all__ = ["Gate", "GateResult", "check_gates"]

import difflib
import math
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from pytest_evalplug.errors import ConfigError
from pytest_evalplug.summary.rows import Cell, Row, first_metric, known_scale
from pytest_evalplug.summary.table import Table

_GATE = re.compile(
    r"(?P<name>.*?\S)\s*(?P<op>>=|<=|>|<)\s*(?P<limit>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
    r"\s*(?P<unit>%?)\s*",
    re.DOTALL,
)
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    ">": operator.gt,
    "<=": operator.le,
    "<": operator.lt,
}


@dataclass(frozen=True, slots=True)
class GateResult:
    """What came of one gate for one model; ``skipped`` is one that can't be checked here."""

    gate: str
    model: str
    outcome: Literal["passed", "failed", "skipped"]
    message: str
    value: float | None = None
    n: int | None = None


@dataclass(frozen=True, slots=True)
class Gate:
    """A required score: ``NAME[/METRIC]>=VALUE``.

    NAME is a dataset, a benchmark or a group as the summary calls it; without METRIC its first
    metric counts. A benchmark's METRIC is the mean over its subsets. VALUE is on the metric's own
    scale; a ``%`` behind it says that this is percent.
    The other operators are ``>``, ``<=`` and ``<``. ``MODEL:`` before NAME asks for one model only.
    """

    text: str
    name: str
    op: str
    limit: float
    has_unit: bool = False

    @classmethod
    def parse(cls, text: str) -> Gate:
        """Read a gate. Raises ConfigError if it is none, or surely means another scale."""
        found = _GATE.fullmatch(text.strip())
        if not found:
            raise ConfigError(
                f"{text!r} is no gate",
                where="--eval-gate",
                fix="Write NAME>=VALUE or NAME/METRIC>=VALUE, in quotes: --eval-gate 'gsm8k>=70'",
            )
        gate = cls(
            text.strip(), found["name"], found["op"], float(found["limit"]), bool(found["unit"])
        )
        metric = gate.name.rpartition("/")[2]
        if gate.is_share and known_scale(metric) == 100:
            raise ConfigError(gate._wrong_scale(metric), where="--eval-gate")
        return gate

    @property
    def is_share(self) -> bool:
        """Whether the limit would be a share on a 0-1 scale, and nearly nothing in percent."""
        return 0 < self.limit < 1 and not self.has_unit

    def check(self, table: Table) -> list[GateResult]:
        """Compare each model's score; a name that the table lacks fails with the nearest ones."""
        rows = [*table.rows, *table.hidden]
        name, models = self.name, table.models
        found = _rows_of(rows, name)
        if not found:
            for model in table.models:
                if name.startswith(f"{model}:") and (own := _rows_of(rows, name[len(model) + 1 :])):
                    found, models = own, (model,)
        if not found:
            return [GateResult(self.text, "", "failed", _unknown(rows, name))]
        return [self._check(table, found, model) for model in models]

    def _check(self, table: Table, rows: Sequence[Row], model: str) -> GateResult:
        column = table.models.index(model)
        row = next((row for row in rows if row.cells[column]), rows[0])
        cell = row.cells[column]
        if cell is None:
            notes = dict.fromkeys([*table.notes, *table.hidden_notes])
            why = [note for note in notes if note.startswith(f"{row.dataset} {model}: ")]
            return GateResult(self.text, model, "failed", "; ".join(["there is no score", *why]))
        problem = self._problem(row, cell)
        required = f"{self.op} {self.limit:g} is required"
        score = f"{row.metric} is {self._shown(cell.value)} (n = {cell.n})"
        message = f"{score}, {problem or required}"
        reached = problem is None and self._reached(cell.value)
        return GateResult(
            self.text, model, "passed" if reached else "failed", message, cell.value, cell.n
        )

    def _problem(self, row: Row, cell: Cell) -> str | None:
        """Return why a score can't pass, whatever it is."""
        is_percent = row.scale == 100 or abs(cell.value) > 1
        if self.is_share and is_percent:
            return self._wrong_scale(row.metric)
        if self.has_unit and not is_percent:
            share, limit = f"{self.op}{self.limit / 100:g}", f"{self.op}{self.limit:g}"
            return f"which may not be percent: write {share}, or {limit} without % if it is"
        return f"but incomplete: {cell.incomplete}" if cell.incomplete else None

    def _reached(self, value: float) -> bool:
        # 57 of 100 is 56.99999999999999 percent, which the table shows as 57
        value = self.limit if math.isclose(value, self.limit, rel_tol=1e-9) else value
        return _COMPARE[self.op](value, self.limit)

    def _shown(self, value: float) -> str:
        """Return two decimals, or more where they would hide that the limit is just missed."""
        near = value != self.limit and round(value, 2) == self.limit
        return f"{value:.8g}" if near else f"{value:.2f}"

    def _wrong_scale(self, metric: str) -> str:
        share, percent = f"{self.limit:g}", f"{100 * self.limit:g}"
        return (
            f"{metric} is percent, but the gate says {self.op}{share}: "
            f"write {self.op}{percent}, or {self.op}{share}% if that is meant"
        )


def check_gates(gates: Iterable[str], table: Table) -> list[GateResult]:
    """Return what comes of each gate and model. Raises ConfigError for a text that is no gate."""
    return [result for text in dict.fromkeys(gates) for result in Gate.parse(text).check(table)]


def _rows_of(rows: Sequence[Row], gate: str) -> list[Row]:
    """Return the rows of the one metric that ``gate`` names; they differ in version and mode."""
    for dataset, metric in _readings(gate):
        own = [row for row in rows if row.dataset == dataset]
        # a row that was asked for in vain says nothing of what there is
        known = [row.metric for row in own if row.metric != "-"] or ["-"] * len(own)
        wanted = metric or first_metric(known) or ""
        called = [row for row in own if row.metric == wanted]
        if found := called or [row for row in own if row.mean_of == wanted]:
            return found
    return []


def _readings(name: str) -> Iterator[tuple[str, str]]:
    """Yield dataset and metric, of which either may hold a slash."""
    yield name, ""
    for position in reversed([i for i, char in enumerate(name) if char == "/"]):
        yield name[:position], name[position + 1 :]


def _unknown(rows: Sequence[Row], name: str) -> str:
    datasets = dict.fromkeys(row.dataset for row in rows)
    both = dict.fromkeys(f"{row.dataset}/{row.metric}" for row in rows if row.metric != "-")
    for dataset, metric in _readings(name):
        if metric and dataset in datasets:
            known = ", ".join(row.metric for row in rows if row.dataset == dataset)
            return f"{dataset} has no metric {metric!r}; it has: {known}"
    near = difflib.get_close_matches(name, [*datasets, *both], n=3, cutoff=0.5)
    known = ", ".join(near or list(datasets)[:5]) or "none"
    return f"the summary has no {name!r}; the nearest are: {known}"
