"""The summary of a run: of all that it has results of, also from earlier sessions."""

from __future__ import annotations

__all__ = ["known", "summarize"]

import json
from collections.abc import Sequence

from pytest_evalplug.errors import ConfigError, EvalplugError, one_line
from pytest_evalplug.run.directory import RunDirectory, timestamp
from pytest_evalplug.run.jsonio import dumps, write_atomic
from pytest_evalplug.run.results import ResultFile
from pytest_evalplug.summary.files import free_path
from pytest_evalplug.summary.rows import DatasetRef
from pytest_evalplug.summary.summarizer import Summarizer
from pytest_evalplug.summary.table import Table

KNOWN = "summary.json"
"""In the run's configs: which models and datasets its summary has."""


def summarize(
    run: RunDirectory,
    models: Sequence[str],
    datasets: Sequence[DatasetRef],
    summarizer: Summarizer | None = None,
) -> Table:
    """Write and return the summary of these models and datasets, and of those known before.

    Raises EvalplugError if ``summarizer``, which may be anybody's, fails.
    """
    known_models, known_datasets = _summarized(run) or ([], [])
    models = list(dict.fromkeys([*known_models, *models]))
    datasets = list(dict.fromkeys([*known_datasets, *datasets]))
    rows = [[d.benchmark, d.subset, list(d.subsets)] for d in datasets]
    write_atomic(run.configs / KNOWN, dumps({"models": models, "datasets": rows}))
    bound = (summarizer or Summarizer()).on(run, models, datasets)
    time = timestamp()
    where = f"{type(bound).__name__}.summarize"
    try:
        table = bound.summarize(str(free_path(run.summary, time)), time)
    except EvalplugError:
        raise
    except Exception as error:
        raise EvalplugError(one_line(error), where=where) from error
    if not isinstance(table, Table):
        raise ConfigError(
            f"returned {type(table).__name__}", where=where, fix="Return the Table that it made"
        )
    return table


def known(run: RunDirectory) -> tuple[list[str], list[DatasetRef]]:
    """Return the models and datasets that the run's last summary had.

    Without one, those that there are results of.
    """
    return _summarized(run) or _with_results(run)


def _summarized(run: RunDirectory) -> tuple[list[str], list[DatasetRef]] | None:
    try:
        found = json.loads((run.configs / KNOWN).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return found["models"], [DatasetRef(b, s, tuple(every)) for b, s, every in found["datasets"]]


def _with_results(run: RunDirectory) -> tuple[list[str], list[DatasetRef]]:
    paths = sorted((run.path / "results").glob("*/*.json"))
    results = [result for path in paths if (result := ResultFile.load(path, details=False))]
    models = list(dict.fromkeys(result.model for result in results))
    return models, list(dict.fromkeys(DatasetRef(result.dataset) for result in results))
