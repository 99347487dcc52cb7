from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_evalplug.cli import main
from pytest_evalplug.run.directory import RunDirectory
from pytest_evalplug.run.snapshot import write_snapshot
from tests.summary.test_run_comparison import measured

FOREIGN = Path(__file__).parents[1] / "run" / "foreign" / "data"


@pytest.fixture
def work_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A work dir with the runs ``old`` of model a, and ``new`` of the models a and b."""
    for name, models in (("20260101_000000", "a"), ("20260102_000000", "ab")):
        run = RunDirectory.attach(tmp_path / name)
        write_snapshot(run, {})
        for model in models:
            measured("RW" if name == "20260101_000000" else "RR", model).write(run)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_two_runs(work_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["compare", "20260101_000000", "20260102_000000", "--work-dir", str(work_dir)]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert out.startswith("old: 20260101_000000 a\nnew: 20260102_000000 a\n")
    assert "  s1: 'W' → 'R', reference 'R'" in out
    assert main([*words, "--flips", "0"]) == 0
    assert "  s1:" not in capsys.readouterr().out


def test_a_run_and_its_model_by_folder(work_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "./20260101_000000", "20260102_000000:b", "--work-dir", "."]) == 0
    assert "new: 20260102_000000 b" in capsys.readouterr().out


def test_two_models_of_one_run_to_a_file(
    work_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["compare", "20260102_000000", "--work-dir", ".", "--model", "a", "--model", "b"]
    assert main([*words, "--format", "json", "-o", "found.json"]) == 0
    assert capsys.readouterr().out == ""
    [found] = json.loads((work_dir / "found.json").read_text())
    assert [found[side]["model"] for side in ("old", "new")] == ["a", "b"]
    assert main([*words, "--format", "markdown"]) == 0
    assert "| dataset   | metric   |" in capsys.readouterr().out


def test_two_tools(capsys: pytest.CaptureFixture[str]) -> None:
    opencompass = FOREIGN / "opencompass" / "20261130_120000"
    words = ["compare", str(opencompass), str(FOREIGN / "lm_eval")]
    assert main([*words, "--model", "chat", "--dataset", "equal=asked"]) == 0
    out = capsys.readouterr().out
    assert "asked      accuracy → exact_match,strict  50.00 (6)  50.00 (6)" in out
    assert "references" not in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["20260101_000000"], "there is nothing to compare with. Give two runs"),
        (["20260101_000000", "2025"], "no run '2025' in"),
        (["20260101_000000:c", "latest"], "no results of model 'c'. Known: a"),
        (["latest", "latest", "--dataset", "law"], "no results of a on 'law'. Known: math"),
    ],
)
def test_usage_errors(
    work_dir: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert main(["compare", *words, "--work-dir", str(work_dir)]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("output", [".", "20260101_000000/configs/summary.json/x"])
def test_where_nothing_can_be_written(
    work_dir: Path, capsys: pytest.CaptureFixture[str], output: str
) -> None:
    (work_dir / "20260101_000000" / "configs" / "summary.json").write_text("{}")
    assert main(["compare", "20260101_000000", "latest", "--work-dir", ".", "-o", output]) == 2
    assert f"error: {output}: can't be written: " in capsys.readouterr().err


def test_a_run_without_details_is_named(work_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = RunDirectory.attach(work_dir / "20260103_000000")
    write_snapshot(run, {})
    replace(measured("RR", "a"), details=None).write(run)
    assert main(["compare", "20260101_000000", "20260103_000000", "--work-dir", "."]) == 0
    out = capsys.readouterr().out
    assert "not compared: 20260103_000000 was scored without details. Score it again" in out
