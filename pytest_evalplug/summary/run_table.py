"""The summary of a run: of all that it has results of, also from earlier sessions."""

from __future__ import annotations

__all__ = ["known", "summarize"]

import json
from collections.abc import Sequence

from pytest_evalplug.run.directory import RunDirectory
from pytest_evalplug.run.jsonio import dumps, write_atomic
from pytest_evalplug.summary.files import write_summary
from pytest_evalplug.summary.rows import DatasetRef
from pytest_evalplug.summary.table import Table, build_table

KNOWN = "summary.json"
"""In the run's configs: which models and datasets its summary has."""


def summarize(run: RunDirectory, models: Sequence[str], datasets: Sequence[DatasetRef]) -> Table:
    """Write and return the summary of these models and datasets, and of those known before."""
    known_models, known_datasets = known(run)
    models = list(dict.fromkeys([*known_models, *models]))
    datasets = list(dict.fromkeys([*known_datasets, *datasets]))
    table = build_table(run, models, datasets)
    write_summary(run, table)
    rows = [[d.benchmark, d.subset, list(d.subsets)] for d in datasets]
    write_atomic(run.configs / KNOWN, dumps({"models": models, "datasets": rows}))
    return table


def known(run: RunDirectory) -> tuple[list[str], list[DatasetRef]]:
    """Return the models and datasets that the run's last summary had."""
    try:
        found = json.loads((run.configs / KNOWN).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return [], []
    return found["models"], [DatasetRef(b, s, tuple(every)) for b, s, every in found["datasets"]]
