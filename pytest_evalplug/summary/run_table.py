"""The summary of a run: of all that it has results of, also from earlier sessions."""

from __future__ import annotations

__all__ = ["known", "summarize"]

import json
from collections.abc import Sequence
from typing import Any

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
    kind: str = "summary",
) -> Table:
    """Write and return the summary of these models and datasets, and of those known before.

    Its files are called ``<kind>_<time>``; those of a ``summary`` are what the run is known by.

    Raises EvalplugError if ``summarizer``, which may be anybody's, fails.
    """
    known_models, known_datasets = _summarized(run) or ([], [])
    models = list(dict.fromkeys([*known_models, *models]))
    datasets = list({dataset.name: dataset for dataset in [*known_datasets, *datasets]}.values())
    rows = [[d.benchmark, d.subset, list(d.subsets)] for d in datasets]
    write_atomic(run.configs / KNOWN, dumps({"models": models, "datasets": rows}))
    bound = (summarizer or Summarizer()).on(run, models, datasets)
    time = timestamp()
    where = f"{type(bound).__name__}.summarize"
    try:
        table = bound.summarize(str(free_path(run.summary, time, kind)), time)
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

    Without one, or if it is damaged, those that there are results of.
    """
    return _summarized(run) or _with_results(run)


def _summarized(run: RunDirectory) -> tuple[list[str], list[DatasetRef]] | None:
    try:
        found = json.loads((run.configs / KNOWN).read_text(encoding="utf-8"))
        models = [_text(model) for model in found["models"]]
        datasets = [
            DatasetRef(_text(benchmark), _text(subset), tuple(map(_text, subsets)))
            for benchmark, subset, subsets in found["datasets"]
        ]
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return _with_results(run)  # what is damaged here says nothing that they don't
    return models, datasets


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _with_results(run: RunDirectory) -> tuple[list[str], list[DatasetRef]]:
    paths = sorted((run.path / "results").glob("*/*.json"))
    results = [result for path in paths if (result := ResultFile.load(path, details=False))]
    models = list(dict.fromkeys(result.model for result in results))
    subsets: dict[str, dict[str, None]] = {}
    for result in results:
        subsets.setdefault(result.benchmark, {})[result.subset] = None
    return models, list(dict.fromkeys(_ref(r, tuple(subsets[r.benchmark])) for r in results))


def _ref(result: ResultFile, subsets: tuple[str, ...]) -> DatasetRef:
    """Return the dataset of its benchmark, or one by itself where that has another name."""
    ref = DatasetRef(result.benchmark, result.subset, subsets)
    return ref if ref.name == result.dataset else DatasetRef(result.dataset)
