from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_evalplug.errors import DataError
from pytest_evalplug.gating import check_required
from pytest_evalplug.options import RunConfig
from pytest_evalplug.run.directory import RunDirectory
from pytest_evalplug.run.results import ResultFile
from pytest_evalplug.run.snapshot import write_snapshot
from pytest_evalplug.summary.table import Table


def saved(folder: Path, **more: Any) -> RunDirectory:
    run = RunDirectory.create(folder)
    run.close()
    write_snapshot(run, {})
    fields: dict[str, Any] = {
        "model": "m", "dataset": "d", "benchmark": "d", "subset": "default", "version": "1",
        "mode": "gen", "num_samples": 1, "num_scored": 1, "metrics": {"accuracy": 50.0},
    }  # fmt: skip
    ResultFile(**{**fields, **more}).write(run)
    return run


def test_a_baseline_of_wrong_shapes_is_one_line(tmp_path: Path) -> None:
    baseline, run = saved(tmp_path / "old", unlisted=3), saved(tmp_path / "new")
    config = RunConfig(baseline=str(baseline.path))
    with pytest.raises(DataError, match="can't be read: TypeError") as caught:
        check_required(config, run, Table(("m",), ()))
    assert caught.value.where == str(baseline.path)
