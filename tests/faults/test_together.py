"""Two runs at once, and a clock that jumps."""

from __future__ import annotations

from pytest_evalplug.run.directory import RunDirectory
from pytest_evalplug.run.snapshot import read_snapshot
from tests.faults.lab import Lab, numbers, records, wait_until


def test_two_runs_in_one_work_dir(lab: Lab) -> None:
    lab.data([f"wait 0.05 {n}" for n in range(12)])
    processes = [lab.start("-p", "no:terminal") for _ in range(3)]
    assert [process.wait() for process in processes] == [0, 0, 0]
    one, two, three = lab.runs
    assert numbers(one) == numbers(two) == numbers(three)
    assert len(lab.asked()) == 36


def test_a_second_process_on_a_run(lab: Lab) -> None:
    lab.data(["say 0", "say 1", "stall"])
    first = lab.start()
    wait_until(lambda: lab.kept() == 2, "predictions")
    (path,) = lab.runs
    refused = lab.run("--reuse")
    assert refused.status == 4
    assert f"another process is working in the run {path}" in refused.line("ERROR: ")
    first.kill()
    lab.data(["say 0", "say 1", "say 2"])
    assert lab.run("--reuse").status == 0
    assert sorted(lab.asked()) == ["say 0", "say 1", "say 2", "stall"]


HOUR, DAY = 3600.0, 86400.0


def test_a_clock_that_jumps(lab: Lab) -> None:
    """Backwards an hour and forwards a day, within a run and between runs."""
    lab.data([f"say {n}" for n in range(12)])
    assert lab.run(jumps=[0.0] * 8 + [-HOUR, DAY] * 6 + [0.0]).status == 0
    first = lab.runs
    assert len(lab.asked()) == len(records(first[0])) == 12
    assert lab.run("--limit=3", jumps=[-HOUR]).status == 0
    (second,) = set(lab.runs) - set(first)
    assert RunDirectory.names(lab.path / "outputs") == [first[0].name, second.name]
    lab.forget_asked()

    # what was asked later counts, whatever the time says
    lab.data([f"say {n}" for n in range(4)] + ["stall"])
    process = lab.start("--reuse", "--eval-set=quiz.generation.temperature=0.5", jumps=[DAY])
    journal = second / "journal/predictions-main.jsonl"
    wait_until(lambda: journal.exists() and journal.read_bytes().count(b"\n") == 4, "predictions")
    process.kill()
    lab.data([f"say {n}" for n in range(4)])
    assert lab.run("--reuse", jumps=[-HOUR]).status == 0  # at another temperature, a day before
    assert read_snapshot(RunDirectory.attach(second))["settings"] == []
    before = len(lab.asked())
    assert lab.run("--reuse").status == 0
    assert len(lab.asked()) == before
