"""A run on the disk, read only: for comparison, for a baseline, for the viewer."""

from __future__ import annotations

__all__ = ["ForeignRun", "SavedRun", "find_saved", "open_foreign", "open_own", "open_saved"]

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from pytest_evalplug.errors import ConfigError, DataError
from pytest_evalplug.run.directory import RunDirectory
from pytest_evalplug.run.predictions import PredictionStore
from pytest_evalplug.run.results import ResultFile


class SavedRun(Protocol):
    """What is read of a run, whichever tool wrote it."""

    @property
    def name(self) -> str:
        """What the run is called in tables."""

    @property
    def path(self) -> Path:
        """Where it lies."""

    def tables(self) -> list[tuple[str, str]]:
        """Return (model, dataset) of all results, in the order of the summary."""

    def result(self, model: str, dataset: str, *, details: bool = True) -> ResultFile | None:
        """Return the result, or None without one. Raises DataError if it is damaged."""

    def records(self, model: str, dataset: str) -> Mapping[str, Mapping[str, Any]]:
        """Return index -> prediction record, each read when it is asked for."""


class ForeignRun(SavedRun, Protocol):
    """A run of another tool, whose predictions may be scored by our Evaluators."""

    def predicted(self) -> list[tuple[str, str]]:
        """Return (model, dataset) of all predictions, with results or without."""


class _OwnRun:
    """A run directory of ours; ``store`` is its predictions, where they have been read already."""

    def __init__(self, path: Path, store: PredictionStore | None = None) -> None:
        self._run = RunDirectory.attach(path)
        self._store = store or PredictionStore(self._run)
        self.path = path
        self.name = path.name

    def tables(self) -> list[tuple[str, str]]:
        from pytest_evalplug.summary.run_table import known

        models, datasets = known(self._run)
        return [
            (model, name)
            for name in dict.fromkeys(dataset.name for dataset in datasets)
            for model in models
            if self._run.result_file(model, name).exists()
        ]

    def result(self, model: str, dataset: str, *, details: bool = True) -> ResultFile | None:
        return ResultFile.read(self._run, model, dataset, details=details)

    def records(self, model: str, dataset: str) -> Mapping[str, Mapping[str, Any]]:
        return self._store.records(model, dataset)


def open_saved(which: str, work_dir: Path) -> SavedRun:
    """Open a run by its folder, its timestamp in ``work_dir``, or ``latest``.

    A folder may be one of OpenCompass (with ``predictions/`` and ``results/``) or of lm-eval (with
    ``results_*.json``), told by what is in it. Raises ConfigError if there is none, DataError if
    the folder is not a run's.
    """
    path = find_saved(which, work_dir)
    if _is_own(path):
        if not (path / "results").is_dir():
            raise DataError(
                "not a run that has results",
                where=str(path),
                fix="Give the folder of a finished run",
            )
        return _OwnRun(path)
    return open_foreign(path)


def find_saved(which: str, work_dir: Path) -> Path:
    """Return the folder that :func:`open_saved` would open. Raises ConfigError if there is none."""
    path = Path(which).expanduser()
    if path.is_dir():
        return path
    try:
        return RunDirectory.find(work_dir, which)
    except ConfigError as error:
        raise ConfigError(f"{error.what}, and no folder of that name", fix=error.fix) from error


def _is_own(path: Path) -> bool:
    return any((path / "configs").glob("*.json"))  # OpenCompass keeps Python there


def open_own(path: Path, store: PredictionStore) -> SavedRun:
    """Open a run of ours whose predictions are in memory already."""
    return _OwnRun(path, store)


def open_foreign(path: Path) -> ForeignRun:
    """Open a folder that another tool wrote. Raises DataError if it is of no known one.

    Our own are refused: they look like OpenCompass's.
    """
    if _is_own(path):
        raise DataError(
            "a run of ours", where=str(path), fix=f"Score it with --reuse {path.resolve().name}"
        )
    from pytest_evalplug.run.foreign.lm_eval import LmEvalRun, result_files
    from pytest_evalplug.run.foreign.opencompass import OpenCompassRun

    if result_files(path):
        return LmEvalRun(path)
    run = OpenCompassRun(path)
    if not (run.tables() or run.predicted()):
        raise DataError(
            "no run: neither ours, nor OpenCompass's, nor lm-eval's",
            where=str(path),
            fix="Give the folder that has results/ or results_*.json",
        )
    return run
