"""Workers: the same numbers, nothing lost, nothing asked twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .project import CONFTEST, QUIZ, Project, Run, right, wrong

ROWS = [
    right(n) if n % 3 else wrong(n) if n % 2 else {"q": f"fail {n}", "a": "x"} for n in range(60)
]


def summary(run: Run) -> Any:
    (path,) = (run.path / "summary").glob("*.json")
    return json.loads(path.read_text(encoding="utf-8"))


def stripped(path: Path) -> dict[str, str]:
    """Return relative name -> text of what a run has saved."""
    return {
        str(file.relative_to(path)): file.read_text(encoding="utf-8")
        for folder in ("predictions", "results")
        for file in sorted((path / folder).rglob("*.json"))
    }


def test_workers_change_no_number(project: Project) -> None:
    project.write("test_other.py", QUIZ.replace('"quiz"', '"other", shuffle=True, repeats=2'))
    project.data(ROWS)
    project.data([right(n + 100) for n in range(9)], "other/test")
    alone = project.run()
    asked = project.asked()
    assert len(asked) == len(ROWS) + 18
    shared = project.run("-n2")
    assert sorted(project.asked()) == sorted(asked)
    assert shared.ret == alone.ret == 1
    assert shared.outcomes == alone.outcomes
    assert stripped(shared.path) == stripped(alone.path)
    assert summary(shared) == summary(alone)
    assert not list((shared.path / "journal").glob("*.jsonl"))
    assert len(list((shared.path / "configs").glob("config_*.json"))) == 1
    assert {p.name for p in (shared.path / "logs/infer").iterdir()} <= {"gw0.log", "gw1.log"}


def test_a_crashed_worker_costs_one_sample(project: Project) -> None:
    project.data([{"q": "exit now", "a": "x"} if n == 2 else right(n) for n in range(30)])
    project.write(
        "conftest.py",
        (project.path / "conftest.py").read_text().replace("batch_size = 4", "batch_size = 1"),
    )
    run = project.run("-n2", "--max-worker-restart=4")
    assert run.ret == 1
    result = run.result()
    assert result["run"]["num_samples"] == 30
    assert result["run"]["num_scored"] + result["run"]["num_errors"] == 30
    assert result["run"]["num_errors"] >= 1
    assert result["accuracy"] == 100
    asked = project.asked()
    assert len(run.predictions()) >= result["run"]["num_scored"] >= 27
    twice = {prompt for prompt in asked if asked.count(prompt) > 1}
    assert not twice & {f"say {n}" for n in range(2)}  # journaled before the crash
    assert "gw0" in run.out or "gw1" in run.out


def test_a_crash_in_the_test_itself(project: Project) -> None:
    project.add(
        "test_quiz.py",
        """
    def test_sample(self, evaluation, sample):
        import os, time
        if sample.target == "5":
            time.sleep(0.5)  # the engine journals the rest of its batch
            os._exit(1)
        evaluation.check()
""",
    )
    project.data([right(n) for n in range(20)])
    run = project.run("-n2")
    assert run.ret == 1
    assert run.outcomes["passed"] == 19
    result = run.result()
    assert result["run"]["num_samples"] == 20
    assert sorted(project.asked()) == sorted(f"say {n}" for n in range(20))


@pytest.mark.parametrize("dist", ["loadscope", "worksteal", "each"])
def test_other_ways_to_distribute(project: Project, dist: str) -> None:
    project.data([right(n) for n in range(9)])
    run = project.run("-n2", f"--dist={dist}")
    assert run.ret == 0
    assert f"--dist {dist}" in run.line("no look-ahead")
    assert run.result()["run"]["num_samples"] == 9
    assert run.result()["accuracy"] == 100
    if dist != "each":
        assert len(project.asked()) == 9


def test_items_in_random_order(project: Project) -> None:
    project.data(ROWS[:20])
    reference = project.run()
    project.asked()
    run = project.run("-n2", "-p", "randomly", "-p", "no:cacheprovider")
    assert "Different tests" not in run.out
    assert stripped(run.path) == stripped(reference.path)
    assert len(project.asked()) == 20


def test_workers_can_send_what_a_hostile_error_says(project: Project) -> None:
    # asked one by one: what is raised fails all that was asked with it
    project.write("conftest.py", CONFTEST.replace("batch_size = 4", "batch_size = 1"))
    project.data([right(0), {"q": "raise lone \ud800", "a": "x"}, right(2)])
    run = project.run("-n2")
    assert run.ret == 1
    assert run.outcomes == {"passed": 2, "errors": 1}
    assert "lone \\ud800" in run.out


def test_the_controller_knows_in_time_that_samples_are_dealt(project: Project) -> None:
    """However late a worker begins to run: else items run where nobody planned them."""
    project.add(
        "conftest.py",
        """
@pytest.hookimpl(tryfirst=True, wrapper=True)
def pytest_runtestloop(session):
    if hasattr(session.config, "workerinput"):
        time.sleep(1)
    return (yield)
""",
    )
    rows = [{"q": f"fail {n}", "a": "x"} for n in range(40)]  # errors are asked again where seen
    project.data(rows)
    project.run("-n2")
    assert sorted(project.asked()) == sorted(row["q"] for row in rows)
