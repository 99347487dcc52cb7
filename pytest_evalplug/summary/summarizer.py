"""Which rows and groups a summary has."""

from __future__ import annotations

__all__ = ["DefaultSummarizer", "Summarizer"]

import copy
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from pytest_evalplug.errors import ConfigError
from pytest_evalplug.run.directory import RunDirectory, timestamp
from pytest_evalplug.run.jsonio import dumps
from pytest_evalplug.summary.files import free_path, write_summary
from pytest_evalplug.summary.groups import read_groups
from pytest_evalplug.summary.layouts import Layout, by_model
from pytest_evalplug.summary.notes import notes_for
from pytest_evalplug.summary.presets import with_presets
from pytest_evalplug.summary.rows import DatasetRef, Results, Row, read_results
from pytest_evalplug.summary.scores import Scores, read_scores
from pytest_evalplug.summary.table import Table
from pytest_evalplug.summary.usage import usage_of

Self = TypeVar("Self", bound="Summarizer")
Item = tuple[str, str | None]


class Summarizer:
    """Makes the table of a run, in the way of OpenCompass's DefaultSummarizer.

    ``dataset_abbrs`` lists the rows in their order: ``[name, metric]``, or a name alone for its
    first metric; any other text, also ``""``, is a separator. Names are those of datasets, of
    benchmarks with subsets and of groups. None: everything, groups last. ``summary_groups`` are
    dicts as in :mod:`pytest_evalplug.summary.groups`, or names of presets whose groups are meant.

    A subclass overrides :meth:`summarize`, or less: ``layout``, :meth:`select`, :meth:`tabulate`.
    It is bound to a run before, by :meth:`on`. Raises ConfigError for a wrong configuration.
    """

    layout: ClassVar[Layout] = staticmethod(by_model)

    def __init__(self, dataset_abbrs: Any = None, summary_groups: Any = ()) -> None:
        self.items = None if dataset_abbrs is None else read_items(dataset_abbrs)
        self.groups = read_groups(with_presets(summary_groups), where="summary_groups")
        self._config = {"dataset_abbrs": dataset_abbrs, "summary_groups": summary_groups}
        self.run: RunDirectory | None = None
        self.models: Sequence[str] = ()
        self.datasets: Sequence[DatasetRef] = ()

    def on(
        self: Self,
        run: RunDirectory | str | os.PathLike[str],
        models: Sequence[str] | None = None,
        datasets: Sequence[DatasetRef] | None = None,
    ) -> Self:
        """Return a copy for one run, a directory or its path.

        ``models`` and ``datasets`` are by default all that the run's last summary had.
        """
        from pytest_evalplug.summary.run_table import known

        bound = copy.copy(self)
        bound.run = run if isinstance(run, RunDirectory) else RunDirectory.attach(Path(run))
        if models is None or datasets is None:
            known_models, known_datasets = known(bound.run)
            models = known_models if models is None else models
            datasets = known_datasets if datasets is None else datasets
        bound.models, bound.datasets = models, datasets
        return bound

    def summarize(self, output_path: str | None = None, time_str: str | None = None) -> Table:
        """Make the table, write it and return it; what a subclass overrides.

        ``output_path`` is that of the ``.txt`` file, ``.csv``, ``.md`` and ``.json`` come beside
        it; by default ``summary/summary_<time>.txt`` in the run. ``time_str`` is the time in that
        name (``YYYYMMDD_HHMMSS``), by default now.
        """
        table = self.table()
        write_summary(table, self.path(output_path, time_str))
        return table

    def table(self) -> Table:
        """Return the table of the run that this summarizer is bound to."""
        results = self.results()
        scores = read_scores(self.models, self.datasets, results)
        table = self.tabulate(scores, notes_for(self.models, self.datasets, results))
        return replace(table, usage=usage_of(self._bound(), self.models, results))

    def tabulate(self, scores: Scores, notes: Iterable[str] = ()) -> Table:
        """Return the table of scores, with the groups' values."""
        scores.add_groups(self.groups)
        rows = self.select(scores)
        shown = set(rows)
        every = (row for name in scores.names for row in scores.rows(name))
        hidden = tuple(row for row in every if row not in shown)
        return Table(
            scores.models,
            tuple(rows),
            notes=(*notes, *scores.notes(rows)),
            hidden=hidden,
            hidden_notes=tuple(scores.notes(hidden)),
            layout=self.layout,
        )

    def select(self, scores: Scores) -> list[Row]:
        """Return the rows that are shown, in their order."""
        if self.items is None:
            return scores.listed()
        return [row for item in self.items for row in scores.requested(*item)]

    def to_wire(self) -> dict[str, Any]:
        """Return the configuration in plain types, for the run's snapshot."""
        wire: dict[str, Any] = json.loads(dumps({"type": type(self).__name__, **self._config}))
        return wire

    def results(self) -> Results:
        """Return (model, dataset) -> result of the bound run, without details."""
        return read_results(self._bound(), self.models, self.datasets)

    def path(self, output_path: str | None, time_str: str | None) -> Path:
        """Return where the ``.txt`` file goes."""
        if output_path is not None:
            return Path(output_path)
        return free_path(self._bound().summary, time_str or timestamp())

    def _bound(self) -> RunDirectory:
        if self.run is None:
            raise ConfigError(
                "is not bound to a run", where=type(self).__name__, fix="Call on(path) first"
            )
        return self.run


DefaultSummarizer = Summarizer
"""What OpenCompass calls it."""


def read_items(abbrs: Any, *, where: str = "dataset_abbrs") -> list[Item]:
    """Return (name, metric or None) for each row. Raises ConfigError for anything else."""
    if not isinstance(abbrs, (list, tuple)):
        raise ConfigError("is a list of names and [name, metric] pairs", where=where)
    items: list[Item] = []
    for number, item in enumerate(abbrs):
        if isinstance(item, str):
            items.append((item, None))
        elif _is_pair(item):
            items.append((item[0], item[1]))
        else:
            raise ConfigError(
                f"{item!r} is neither a name nor a [name, metric] pair",
                where=f"{where}[{number}]",
            )
    return items


def _is_pair(item: Any) -> bool:
    return (
        isinstance(item, (list, tuple))
        and len(item) == 2
        and all(isinstance(part, str) for part in item)
    )
