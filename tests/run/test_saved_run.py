from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pytest_evalplug.errors import ConfigError, DataError
from pytest_evalplug.run.directory import RunDirectory
from pytest_evalplug.run.foreign.lm_eval import LmEvalRun
from pytest_evalplug.run.foreign.opencompass import OpenCompassRun
from pytest_evalplug.run.results import ResultFile
from pytest_evalplug.run.saved_run import open_saved
from pytest_evalplug.run.snapshot import write_snapshot

FOREIGN = Path(__file__).with_name("foreign") / "data"


def finished(run: RunDirectory) -> ResultFile:
    result = ResultFile(
        model="m", dataset="d", benchmark="d", subset="s", version="1", mode="gen",
        num_samples=0, num_scored=0, metrics={"accuracy": 50.0}, details=[],
    )  # fmt: skip
    result.write(run)
    write_snapshot(run, {})
    return result


def test_our_own_by_folder_and_by_name(run: RunDirectory) -> None:
    result = finished(run)
    for which in (str(run.path), run.name, "latest"):
        saved = open_saved(which, run.path.parent)
        assert (saved.name, saved.path) == (run.name, run.path)
        assert saved.tables() == [("m", "d")]
        assert saved.result("m", "d") == result
        assert dict(saved.records("m", "d")) == {}


def test_other_tools_are_told_by_what_they_wrote(tmp_path: Path) -> None:
    assert isinstance(open_saved(str(FOREIGN / "lm_eval"), tmp_path), LmEvalRun)
    assert isinstance(open_saved(str(FOREIGN / "lm_eval" / "chat"), tmp_path), LmEvalRun)
    shutil.copytree(FOREIGN / "opencompass", tmp_path / "work")
    for which in (str(tmp_path / "work" / "20261130_120000"), "latest"):
        assert isinstance(open_saved(which, tmp_path / "work"), OpenCompassRun)


def test_no_run(run: RunDirectory, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no run 'x' in .*, and no folder of that name\. Give"):
        open_saved("x", run.path.parent)
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="no run: neither ours, nor OpenCompass's, nor lm-eval's"):
        open_saved(str(tmp_path / "empty"), tmp_path)
    write_snapshot(run, {})
    with pytest.raises(DataError, match="not a run that has results"):
        open_saved(str(run.path), tmp_path)
