"""kill -9: at every step that changes the disk, at random moments, of workers, of the server."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import time
from functools import partial
from pathlib import Path

import pytest

from pytest_evalplug.run.directory import RunDirectory
from pytest_evalplug.run.predictions import PredictionStore
from pytest_evalplug.run.snapshot import has_snapshot, read_snapshot
from tests.faults.lab import Lab, Process, numbers, records, wait_until


@pytest.fixture
def rng() -> random.Random:
    """Random moments, others in each run; the seed is shown where a test fails."""
    seed = random.randrange(10**6)
    print(f"seed {seed}")
    return random.Random(seed)


class Witness:
    """Knows what had been journaled when something was killed: none of it may be asked again."""

    def __init__(self, lab: Lab, questions: list[str]) -> None:
        self.lab = lab
        self.questions = questions
        self.kills = 0
        self._kept: list[tuple[int, set[str]]] = []

    def kill(self) -> None:
        """Note that something has just been killed."""
        self.kills += 1
        kept = {r["origin_prompt"] for path in self.lab.runs for r in records(path).values()}
        self._kept.append((len(self.lab.asked()), kept))

    def asked_twice(self) -> int:
        """Return how many requests were in flight when something was killed, and are the same."""
        asked = self.lab.asked()
        for start, kept in self._kept:
            assert not kept & set(asked[start:]), "journaled, and asked for again"
        assert set(asked) == set(self.questions)
        return len(asked) - len(self.questions)


def check_finished(lab: Lab, reference: dict[str, str]) -> None:
    """Every sample has one prediction, and all numbers are an undisturbed run's."""
    (path,) = lab.runs
    assert numbers(path) == reference
    assert not [file for file in path.rglob(".tmp-*")]
    assert not list(path.glob("journal/*.jsonl"))


def test_every_step_may_be_the_last(
    lab: Lab, rng: random.Random, tmp_path_factory: pytest.TempPathFactory
) -> None:
    questions = [f"say {n}" for n in range(4)]
    lab.data(questions)
    states = tmp_path_factory.mktemp("states")
    assert lab.run(copy_to=str(states)).status == 0
    reference = numbers(lab.runs[0])
    steps = [step for step in sorted(states.iterdir()) if list(step.iterdir())]
    assert len(steps) > 100
    again = set(rng.sample(steps, 6))
    most = 0
    for step in steps:
        (path,) = step.iterdir()
        before = records(path)
        assert len(before) >= most, "a prediction was gone for a while"
        most = len(before)
        if step in again:
            shutil.rmtree(lab.path / "outputs")
            shutil.copytree(step, lab.path / "outputs")
            lab.forget_asked()
            assert lab.run("--reuse").status == 0
            check_finished(lab, reference)
            kept = {record["origin_prompt"] for record in before.values()}
            assert sorted(lab.asked()) == sorted(set(questions) - kept)
        with RunDirectory.open(step, "latest") as run:
            assert not has_snapshot(run) or read_snapshot(run)["eval_mode"] == "gen"
            store = PredictionStore(run)
            store.merge()
            assert records(path) == before
            for file in path.rglob("*.json"):
                json.loads(file.read_text(encoding="utf-8"))
    assert most == len(questions)


def test_fifty_kills_of_the_run(lab: Lab, rng: random.Random) -> None:
    questions = [f"wait 0.02 {n}" for n in range(25)]
    lab.data(questions)
    assert lab.run().status == 0
    reference = numbers(lab.runs[0])
    kills = twice = 0
    while kills < 50:
        shutil.rmtree(lab.path / "outputs", ignore_errors=True)
        lab.forget_asked()
        witness = Witness(lab, questions)
        for _ in range(8):
            process = start_killable(lab, rng)
            if process.wait() >= 0:  # it was done before
                break
            witness.kill()
        assert lab.run(*lab.reuse()).status == 0
        check_finished(lab, reference)
        kills += witness.kills
        twice += witness.asked_twice()
    assert twice <= 4 * kills  # those in flight, which nobody has seen
    print(f"{kills} kills, {twice} requests lost in flight")


def start_killable(lab: Lab, rng: random.Random) -> Process:
    """Start or go on, and kill it: at a step, after some time, or with so many predictions."""
    how = rng.choice(["step", "time", "predictions"])
    if how == "step":
        return lab.start(*lab.reuse(), kill_at=rng.randrange(1, 200))
    process = lab.start(*lab.reuse())
    if how == "time":
        process.ended(rng.uniform(0.0, 0.8))
    else:
        enough = rng.randrange(1, 25)
        while not process.ended(0.01):
            if lab.kept() >= enough:
                break
    process.kill()
    return process


def workers_of(process: Process) -> list[int]:
    """Return the processes that a controller has started and that write into a journal.

    xdist itself does not survive that one is killed while it starts.
    """
    try:
        text = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
    except FileNotFoundError:
        return []
    return [int(pid) for pid in text.split() if _writes(Path(f"/proc/{pid}/fd"))]


def _writes(descriptors: Path) -> bool:
    try:
        return any("/journal/predictions-" in os.readlink(file) for file in descriptors.iterdir())
    except OSError:  # it has ended meanwhile
        return False


def have_ended(pids: list[int]) -> bool:
    """Tell whether none of these processes runs; one that nobody waits for is a zombie."""
    return not any(_runs(pid) for pid in pids)


def _runs(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


def test_kills_of_workers(lab: Lab, rng: random.Random) -> None:
    questions = [f"wait 0.05 {n}" for n in range(48)]
    lab.data(questions)
    assert lab.run().status == 0
    reference = numbers(lab.runs[0])
    shutil.rmtree(lab.path / "outputs")
    lab.forget_asked()
    witness = Witness(lab, questions)
    process = lab.start("-n2", "--max-worker-restart=20")
    for kill in range(5):
        enough = 8 * kill + rng.randrange(1, 8)
        wait_until(partial(lab.has_kept, enough, process), "predictions")
        if process.ended():
            break
        if workers := workers_of(process):
            os.kill(rng.choice(workers), signal.SIGKILL)
            witness.kill()
    lab.done(process)
    print(f"{witness.kills} kills of workers")
    assert lab.run("--reuse").status == 0
    check_finished(lab, reference)
    assert witness.asked_twice() <= 4 * witness.kills


def test_kills_of_the_controller(lab: Lab, rng: random.Random) -> None:
    questions = [f"wait 0.3 {n}" for n in range(40)]
    lab.data(questions)
    witness = Witness(lab, questions)
    process = lab.start("-n2")
    enough = rng.randrange(1, 8)
    wait_until(partial(lab.has_asked, enough), "requests")
    wait_until(lambda: len(workers_of(process)) == 2, "both workers write")
    workers = workers_of(process)
    process.kill()
    asked = len(lab.asked())
    again = lab.start("--reuse")  # it lets the workers end first
    wait_until(partial(have_ended, workers), "workers end, too")
    assert len(set(lab.asked())) <= asked + 16, "orphans went on asking"
    witness.kill()
    assert lab.done(again).status == 0
    assert len(records(lab.runs[0])) == len(questions)
    assert witness.asked_twice() <= 4


def test_kills_of_the_model_server(lab: Lab, rng: random.Random) -> None:
    questions = [f"wait 0.02 {n}" for n in range(40)]
    lab.data(questions)
    assert lab.run().status == 0
    reference = numbers(lab.runs[0])
    shutil.rmtree(lab.path / "outputs")
    lab.forget_asked()
    witness = Witness(lab, questions)
    process = lab.start()
    for kill in range(4):
        enough = 8 * kill + rng.randrange(1, 8)
        wait_until(partial(lab.has_asked, enough), "requests")
        lab.server.kill()
        witness.kill()
        time.sleep(rng.uniform(0.0, 0.3))
        lab.server = lab.serve()
    lab.done(process)
    assert lab.run("--reuse").status == 0
    check_finished(lab, reference)
    assert witness.asked_twice() <= 4 * witness.kills
