"""The scripts in docs/examples/slurm, with commands that only say how they were called."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[1] / "docs" / "examples" / "slurm"
ECHO = """#!/bin/sh
echo "$(basename "$0") $*" >>"$CALLS"
echo 17
"""


def run(script: str, folder: Path, *args: str, **env: str) -> list[str]:
    """Run a script and return the commands that it ran."""
    for name in ("python", "evalplug", "sbatch"):
        command = folder / "bin" / name
        command.parent.mkdir(exist_ok=True)
        command.write_text(ECHO)
        command.chmod(0o755)
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(
        ["bash", str(SCRIPTS / script), *args],
        cwd=folder,
        env={"PATH": path, "CALLS": str(folder / "calls"), **env},
        check=True,
        capture_output=True,
    )
    calls = (folder / "calls").read_text().splitlines()
    (folder / "calls").unlink()
    return calls


def test_a_task_runs_its_shard_and_goes_on_after_a_requeue(tmp_path: Path) -> None:
    task = {"SLURM_ARRAY_TASK_ID": "2", "SLURM_ARRAY_TASK_COUNT": "3"}
    env = {**task, "MODEL": "m", "RUNS": "runs", "BENCHMARKS": "a.py b.py"}
    command = "python -m pytest a.py b.py --model=m --eval-shard=2/3 --work-dir=runs/shard-2"
    assert run("evaluate.sbatch", tmp_path, **env) == [f"{command} -q"]
    (tmp_path / "runs/shard-2/20260101_000000/configs").mkdir(parents=True)
    assert run("evaluate.sbatch", tmp_path, **env) == [f"{command} --reuse -q"]


def test_the_merge_waits_for_the_array(tmp_path: Path) -> None:
    calls = run("submit.sh", tmp_path, "4", MODEL="m", RUNS="runs")
    assert calls == [
        f"sbatch --parsable --chdir={tmp_path} --array=1-4 {SCRIPTS}/evaluate.sbatch",
        f"sbatch --chdir={tmp_path} --dependency=afterany:17 {SCRIPTS}/merge.sbatch",
    ]
    assert (tmp_path / "runs").is_dir()  # where the user is, and not beside the script
    assert run("merge.sbatch", tmp_path, RUNS="runs") == ["evalplug merge runs -o runs-merged"]


@pytest.mark.parametrize("script", ["evaluate.sbatch", "merge.sbatch"])
def test_what_must_be_said(script: str, tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError) as caught:
        run(script, tmp_path, MODEL="m")
    assert b"RUNS" in caught.value.stderr
