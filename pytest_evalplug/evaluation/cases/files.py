"""Files of labelled cases: reading and checking them."""

from __future__ import annotations

__all__ = ["CaseFile", "check_file", "shipped_files"]

import inspect
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from pytest_evalplug.dataset.readers import read_table
from pytest_evalplug.dataset.table import Record, Table
from pytest_evalplug.errors import ConfigError, DataError, EvalplugError, one_line
from pytest_evalplug.evaluation.cases.kinds import KINDS, kind_of, named_kind
from pytest_evalplug.evaluation.cases.report import Finding, Outcome, Report
from pytest_evalplug.evaluation.postprocessor import Postprocessor, resolve_postprocessor
from pytest_evalplug.evaluation.waiting import wait_for

_WAITING = 64
"""How many cases wait at once where the checker is ``async``."""


def check_file(
    path: str | os.PathLike[str], *, kind: str | None = None, postprocessor: Any = None
) -> Report:
    """Check every case of a file; see :meth:`CaseFile.load` for the arguments.

    Raises EvalplugError for a file that can't be checked. A rule that raises anything else on a
    case is a miss.
    """
    return CaseFile.load(path, kind=kind, postprocessor=postprocessor).check()


def shipped_files() -> list[Path]:
    """Return the files with the shipped rules' own cases."""
    return sorted(Path(__file__).parent.glob("*.jsonl"))


@dataclass(frozen=True, slots=True)
class CaseFile:
    """The cases of one file, ready to be checked."""

    path: Path
    kind: str
    table: Table
    steps: tuple[Postprocessor, ...] = ()
    """What is tried instead of the shipped rule."""

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], *, kind: str | None = None, postprocessor: Any = None
    ) -> CaseFile:
        """Read a file (``.jsonl``, or any other ending that a dataset may have).

        ``kind`` is a name in ``KINDS``; without it the rows' fields tell. ``postprocessor``, as in
        ``eval_cfg``, is tried instead of the shipped rule. Raises DataError for a file that is not
        readable, has no cases, or lacks a field, and ConfigError for a postprocessor that there
        isn't, or that has nothing to do for this kind of cases.
        """
        where = os.fspath(path)
        steps = resolve_postprocessor(postprocessor)
        table = read_table(Path(path))
        if not table.records:
            raise DataError("holds no cases", where=where)
        if kind is None:
            kind = kind_of(table.records[0], where=where)
        named_kind(kind, where=where)
        if steps and not KINDS[kind].reads_replies:
            raise ConfigError(f"{kind} cases hold no replies for a postprocessor", where=where)
        for number, row in enumerate(table.records):
            _check_fields(row, kind, table.origin.where(number))
        return cls(Path(path), kind, table, steps)

    def check(self) -> Report:
        """Return what came of every case; cases that wait are checked side by side."""
        module = import_module(f"{__package__}.{KINDS[self.kind].module}")
        check = getattr(module, f"check_{self.kind}")
        threads = _WAITING if inspect.iscoroutinefunction(check) else 1
        with ThreadPoolExecutor(threads) as pool:
            outcomes = pool.map(partial(self._outcome, check), range(len(self.table.records)))
            return Report(self.path, list(outcomes))

    def _outcome(self, check: Callable[..., Any], number: int) -> Outcome:
        row, where = self.table.records[number], self.table.origin.where(number)
        try:
            found = check(row, self.steps)
            finding = wait_for(found) if inspect.isawaitable(found) else found
        except EvalplugError as error:
            error.where = f"{where}: {error.where}" if error.where else where
            raise
        except Exception as error:  # the rule being tried may be anybody's
            shown, *label = KINDS[self.kind].fields
            expected = {name: row[name] for name in label}
            finding = Finding(str(row[shown]), expected, one_line(error), right=False)
        name, kind, why = (str(row.get(key) or "") for key in ("id", "kind", "why"))
        return Outcome(name or where, kind, why, finding)


def _check_fields(row: Record, kind: str, where: str) -> None:
    for name in KINDS[kind].fields:
        # the result may be null, and a column that a row lacks is null too
        if row.get(name) is None and not (name == "expected" and name in row):
            raise DataError(
                f"the case has no {name!r}",
                where=where,
                fix=f"A {kind} case has {', '.join(KINDS[kind].fields)}",
            )
