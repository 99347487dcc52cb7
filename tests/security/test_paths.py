"""No name makes a file outside of its folder, nor is one read from there."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import pytest

from pytest_evalplug.dataset.loading import DataSource
from pytest_evalplug.errors import ConfigError, DataError
from pytest_evalplug.report.viewer.runs import Runs
from pytest_evalplug.run.directory import RunDirectory, safe_name
from pytest_evalplug.run.merging import find_shards
from pytest_evalplug.scaffold import new_files
from tests.report.viewer.runs import Given, make_run
from tests.run.test_merging import shard

NAMES = (
    *("../../x", "..", ".", "", "/etc/passwd", "a/b", "a\\b", "C:\\x", "a:b", "~", "~root"),
    *("a\0b", "a\nb", "a\rb", "\x1b[31m", "\u202ea", "\ud800", " ", "-rf", "--help", ".hidden"),
    *(
        "CON",
        "nul.txt",
        "com1",
        "a.",
        "a ",
        "x" * 5000,
        "\u0430dmin",
        "admin",
        "\uff0e\uff0e\uff0f",
    ),
    *("%2e%2e%2f", "$(id)", "`id`", "a;b", "a*", "a?", "a|b", "<a>", '"', "'"),
)


def test_files_stay_in_the_run_each_on_its_own() -> None:
    run = RunDirectory.attach(Path("/work/run"))
    for place in (run.prediction_file, run.result_file, run.judgement_file):
        paths = {place(model, data) for model, data in itertools.product(NAMES, NAMES)}
        assert len(paths) == len(NAMES) ** 2
        folders = {path.parent.parent for path in paths}
        assert len(folders) == 1
        assert folders.pop().parent == run.path
        assert all(len(path.name) <= 105 and path.name.isascii() for path in paths)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_no_device_and_no_option(name: str) -> None:
    stem = safe_name(name)
    assert stem.partition(".")[0].lower() not in {"con", "nul", "com1"}
    assert stem[0] not in "-.~"
    assert stem[-1] not in ". "


@pytest.mark.parametrize("name", ["../secret", "..", ".", "", "{secret}", "quiz/../../secret"])
def test_data_is_looked_for_below_the_data_directory_only(tmp_path: Path, name: str) -> None:
    secret = tmp_path / "secret"
    for folder in (secret, tmp_path / "data" / "quiz"):
        folder.mkdir(parents=True)
    for path in (secret / "test.jsonl", tmp_path / "test.jsonl", tmp_path / "data" / "test.jsonl"):
        path.write_text('{"key": "secret"}')
    (secret / "cot.txt").write_text("secret")
    name = name.format(secret=secret)
    other = DataSource(benchmark=name, data_dirs=[tmp_path / "data"])
    quiz = DataSource(benchmark="quiz", data_dirs=[tmp_path / "data"])
    assert other.local(None, "test", shared=True) is None
    assert quiz.local(f"../{name}", "test", shared=True) is None
    assert quiz.local(None, f"../{name}/test", shared=True) is None
    assert other.find_file(None, "cot.txt", shared=True) is None
    assert quiz.find_file(f"../{name}", "cot.txt", shared=True) is None


@pytest.mark.parametrize("name", [n for n in NAMES if n != "admin"])
def test_a_new_benchmark_is_not_named_like_a_path(name: str) -> None:
    try:
        files = new_files(name, "qa")
    except ConfigError:
        return
    for place in files:
        assert ".." not in Path(place).parts
        assert not Path(place).is_absolute()


@pytest.mark.parametrize("name", ["../x", "/etc", "", ".", "20260101_000000/../../x"])
def test_a_run_is_one_of_those_that_there_are(tmp_path: Path, name: str) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "work" / "20260101_000000").mkdir(parents=True)
    with pytest.raises(ConfigError, match="no run"):
        RunDirectory.find(tmp_path / "work", name)


def test_a_link_out_of_a_run_is_not_followed(tmp_path: Path) -> None:
    run = make_run(tmp_path / "out", {("m", "main"): [Given("a")]})
    secret = tmp_path / "secret.json"
    secret.write_text('{"0": {"prediction": "secret"}}')
    runs = Runs(tmp_path / "out")
    assert "error" not in runs.listed()[0]
    os.symlink(secret, run.path / "predictions" / "m" / "more.json")
    os.utime(run.path / "summary")
    [listed] = Runs(tmp_path / "out").listed()
    assert "leads out of the run" in listed["error"]


def test_nor_is_one_merged(tmp_path: Path) -> None:
    one = shard(tmp_path, 1)
    os.symlink("/etc/passwd", one.path / "journal" / "predictions-main.jsonl")
    with pytest.raises(DataError, match="leads out of the run"):
        find_shards([tmp_path])
