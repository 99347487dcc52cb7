"""A real Ray cluster of two nodes, with the real model; one node is killed in the middle."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_evalplug.model.base import GenerationParams
from pytest_evalplug.model.hf import HFBackend
from pytest_evalplug.types import ModelOutput

pytestmark = pytest.mark.real_model
pytest.importorskip("ray", reason="pip install 'pytest-evalplug[ray]'")

DEADLINE_SECONDS = 300
SAMPLES = 16

PROJECT = """
[tool.evalplug.models.many]
backend = "hf"
model = "{model}"
engine = "ray"
replicas = 2
batch_size = 1
generation = {{ max_tokens = 4 }}
"""


@pytest.fixture
def cluster() -> Iterator[subprocess.Popen[str]]:
    """Two nodes with room for one replica each; the address is the first line of the output."""
    command = [sys.executable, str(Path(__file__).with_name("ray_nodes.py"))]
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**own_environment(), "RAY_USAGE_STATS_ENABLED": "0"},
    )
    try:
        yield process
    finally:
        try:
            process.communicate(timeout=DEADLINE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            raise


def own_environment() -> dict[str, str]:
    """Return the environment without what speaks of this run of pytest, and its workers."""
    others = ("EVALPLUG_", "GITHUB_", "PYTEST_", "RAY_")
    return {name: value for name, value in os.environ.items() if not name.startswith(others)}


def start(folder: Path, address: str, *args: str) -> subprocess.Popen[str]:
    """Start a run of demo_math; ``-W error`` as here, and no timeout of its own."""
    command = [sys.executable, "-W", "error", "-m", "pytest", "-p", "no:randomly", *args]
    module = Path(__file__).parents[2] / "benchmarks" / "test_demo_math.py"
    return subprocess.Popen(
        [*command, str(module), f"--rootdir={folder}", "-c", "pyproject.toml", "--model=many"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**own_environment(), "RAY_ADDRESS": address},
    )


def wait_until_all_work(folder: Path, run: subprocess.Popen[str]) -> None:
    """Wait until both replicas are there and a prediction has come."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while time.monotonic() < deadline and run.poll() is None:
        logs = "".join(path.read_text() for path in folder.glob("outputs/*/logs/infer/*.log"))
        came = any(path.stat().st_size for path in folder.glob("outputs/*/journal/prediction*"))
        if came and logs.count("is there") == 2:
            return
        time.sleep(0.05)
    raise AssertionError(run.communicate()[0])


def test_a_node_dies_and_every_sample_has_its_one_prediction(
    cluster: subprocess.Popen[str], smollm2_folder: Path, smollm2_backend: HFBackend, tmp_path: Path
) -> None:
    assert cluster.stdin
    assert cluster.stdout
    (tmp_path / "pyproject.toml").write_text(PROJECT.format(model=smollm2_folder))
    shots = "--eval-set=demo_math.few_shot_num=0"
    run = start(tmp_path, cluster.stdout.readline().strip(), shots, f"--limit={SAMPLES}")
    wait_until_all_work(tmp_path, run)
    cluster.stdin.write("kill\n")
    cluster.stdin.flush()
    out, _ = run.communicate(timeout=DEADLINE_SECONDS)
    assert run.returncode == 0, out

    [path] = (tmp_path / "outputs").iterdir()
    log = (path / "logs/infer/main.log").read_text()
    assert "is lost, generate() is asked again (attempt 1)" in log
    assert f"closed; {SAMPLES} asked, 0 without a prediction" in log
    predictions = read(path / "predictions/many/demo_math.json")
    assert sorted(map(int, predictions)) == list(range(SAMPLES))
    assert read(path / "results/many/demo_math.json")["run"]["num_scored"] == SAMPLES
    prompts = [record["origin_prompt"] for record in predictions.values()]
    alone = smollm2_backend.generate(prompts, GenerationParams(max_tokens=4))
    assert [record["prediction"] for record in predictions.values()] == [
        output.completion for output in alone if isinstance(output, ModelOutput)
    ]


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))
