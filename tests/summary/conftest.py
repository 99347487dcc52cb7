"""A run directory, and results to fill it with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from pytest_evalplug.run.directory import RunDirectory
from pytest_evalplug.run.results import ResultFile
from pytest_evalplug.summary.rows import DatasetRef

Save: TypeAlias = Callable[..., ResultFile]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[RunDirectory]:
    with RunDirectory.create(tmp_path / "outputs") as directory:
        yield directory


def result(
    dataset: DatasetRef, model: str, accuracy: float | None = None, **more: Any
) -> ResultFile:
    """Return a result of 10 samples, all scored, but for what ``more`` says."""
    fields: dict[str, Any] = {
        "model": model,
        "dataset": dataset.name,
        "benchmark": dataset.benchmark,
        "subset": dataset.subset,
        "version": "1d7fe4",
        "mode": "gen",
        "num_samples": 10,
        "num_scored": 10,
        "metrics": {} if accuracy is None else {"accuracy": accuracy},
    }
    return ResultFile(**{**fields, **more})


@pytest.fixture
def save(run: RunDirectory) -> Save:
    """Return what writes a :func:`result` into the run."""

    def write(
        dataset: DatasetRef, model: str, accuracy: float | None = None, **more: Any
    ) -> ResultFile:
        written = result(dataset, model, accuracy, **more)
        written.write(run)
        return written

    return write
