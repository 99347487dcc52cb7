"""A run directory to write to, and stores that are closed at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TypeAlias

import pytest

from pytest_evalplug.run.details import DetailStore
from pytest_evalplug.run.directory import RunDirectory
from pytest_evalplug.run.predictions import PredictionStore
from pytest_evalplug.run.records import RecordLog

Logs: TypeAlias = Callable[[str, str], RecordLog]
Predictions: TypeAlias = Callable[..., PredictionStore]
Details: TypeAlias = Callable[..., DetailStore]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[RunDirectory]:
    with RunDirectory.create(tmp_path / "outputs") as directory:
        yield directory


@pytest.fixture
def opened() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def logs(run: RunDirectory, opened: ExitStack) -> Logs:
    """Return a maker of logs from a kind and a worker, one process each."""
    return lambda kind, worker: opened.enter_context(closing(RecordLog(run, kind, worker)))


@pytest.fixture
def predictions(run: RunDirectory, opened: ExitStack) -> Predictions:
    """Return a maker of prediction stores from a worker, one process each."""

    def make(worker: str = "main", run: RunDirectory = run) -> PredictionStore:
        return opened.enter_context(closing(PredictionStore(run, worker)))

    return make


@pytest.fixture
def details(run: RunDirectory, opened: ExitStack) -> Details:
    """Return a maker of detail stores from a worker, one process each."""

    def make(worker: str = "main") -> DetailStore:
        return opened.enter_context(closing(DetailStore(run, worker)))

    return make
