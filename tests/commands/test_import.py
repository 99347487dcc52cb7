from __future__ import annotations

from pathlib import Path

import pytest

from pytest_evalplug.cli import main

RUN = Path(__file__).parents[1] / "run/foreign/data/opencompass/20261130_120000"


def test_it_says_how_to_score(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["import", str(RUN), "--dataset", "equal=demo_math"]) == 0
    [run] = (tmp_path / "outputs").iterdir()
    assert capsys.readouterr().out.splitlines() == [
        "6 replies of chat as demo_math",
        f"score them: pytest benchmarks/test_demo_math.py --reuse {run.name} --mode eval",
    ]


def test_several_datasets_elsewhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", str(RUN), "--work-dir", str(tmp_path / "my runs")]) == 0
    *_, left_out, score = capsys.readouterr().out.splitlines()
    assert left_out == "left out: chosen of small: choices among likelihoods, no replies"
    assert score.startswith("score them: pytest benchmarks --reuse ")
    assert score.endswith(f"--work-dir '{tmp_path}/my runs'")


def test_no_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", str(tmp_path)]) == 2
    assert "no run: neither ours" in capsys.readouterr().err


def test_a_run_of_ours_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", str(RUN), "--dataset", "equal", "--work-dir", str(tmp_path)]) == 0
    [run] = tmp_path.iterdir()
    assert main(["import", str(run), "--work-dir", str(tmp_path)]) == 2
    assert f"a run of ours. Score it with --reuse {run.name}" in capsys.readouterr().err
    assert [*tmp_path.iterdir()] == [run]
