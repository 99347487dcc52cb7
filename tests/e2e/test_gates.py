"""Gates are reported tests of their own, and the exit status follows them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from functools import partial
from xml.etree import ElementTree

import pytest

from .project import Project, right, wait_for_results, wrong

ROWS = [right(n) if n % 4 else wrong(n) for n in range(8)]


def test_a_gate_is_a_test(project: Project, every_mode: tuple[str, ...]) -> None:
    project.data(ROWS)
    gates = ("--eval-gate=quiz>=70", "--eval-gate=quiz/accuracy>75")
    run = project.run("-v", "--junitxml=r.xml", *gates, *every_mode)
    assert run.ret == 1
    assert run.outcomes == {"passed": 7, "wrong": 2, "failed": 1}
    assert "evalplug/gates::quiz>=70 PASSED" in run.out
    assert "evalplug/gates::quiz/accuracy>75 FAILED" in run.out
    assert "FAILED evalplug/gates::quiz/accuracy>75 - accuracy is 75.00 (n = 8), > 75" in run.out
    assert "[100%]" in run.line("evalplug/gates::quiz/accuracy>75 FAILED")
    assert not [number for number in range(101, 130) if f"[{number}%]" in run.out]
    cases = {
        case.get("name"): case
        for case in ElementTree.parse(project.path / "r.xml").iter("testcase")
        if case.get("classname") == "evalplug.gates"
    }
    assert list(cases) == ["quiz>=70", "quiz/accuracy>75"]
    assert [case.find("failure") is None for case in cases.values()] == [True, False]


def test_passing_gates_change_nothing(project: Project, mode: tuple[str, ...]) -> None:
    project.data(ROWS)
    run = project.run("--eval-gate=quiz>=75", "-x", "--eval-wrong=xfail", *mode)
    assert run.ret == 0
    assert run.outcomes == {"passed": 7, "xfailed": 2}
    again = project.run("--eval-gate=quiz>=75", "--mode=eval", *mode)
    assert again.ret == 0
    assert again.outcomes == {"passed": 7, "wrong": 2}
    assert project.run("--eval-gate=quiz>=76", "--mode=eval").ret == 1


def test_incomplete_results_fail(project: Project) -> None:
    project.data(ROWS)
    gate = "--eval-gate=quiz>=1"
    limited = project.run(gate, "--limit=2")
    assert limited.ret == 1
    assert limited.outcomes == {"passed": 1, "wrong": 1, "failed": 1}
    assert "incomplete" in limited.line("FAILED evalplug/gates")
    stopped = project.run(gate, "-x")
    assert stopped.ret == 1
    assert stopped.outcomes == {"wrong": 1, "failed": 1}
    assert "incomplete" in stopped.line("FAILED evalplug/gates")
    project.data([*ROWS, {"q": "fail tired", "a": "x"}])
    assert "incomplete" in project.run(gate).line("FAILED evalplug/gates")


def test_a_run_that_stops_on_two_workers(project: Project) -> None:
    project.data([wrong(n) for n in range(40)])
    run = project.run("--eval-gate=quiz>=1", "-n2", "--maxfail=2")
    assert run.ret == 1
    assert run.outcomes["failed"] == 1
    assert "evalplug/gates" in run.line("FAILED")


def test_gates_trip_no_maxfail(project: Project) -> None:
    project.data([right(1)])
    run = project.run("-x", "--eval-gate=quiz>100", "--eval-gate=quiz>=101", "--eval-gate=quiz>=1")
    assert run.outcomes == {"passed": 2, "failed": 2}
    assert "stopping after" not in run.out


def test_no_later_session_begins_at_a_gate(project: Project) -> None:
    project.data([right(1)])
    assert project.run("--stepwise", "--eval-gate=quiz>100").outcomes == {"passed": 1, "failed": 1}
    cache = project.path / ".pytest_cache/v/cache"
    assert json.loads((cache / "stepwise").read_text())["last_failed"] is None
    assert "evalplug/gates" not in "".join(path.read_text() for path in cache.glob("lastfailed"))


def test_names_that_are_not_there(project: Project) -> None:
    project.data([right(1)])
    run = project.run("--eval-gate=quizz>=1")
    assert run.ret == 1
    assert "the summary has no 'quizz'; the nearest are: quiz" in run.out


def test_where_there_are_no_gates(project: Project) -> None:
    project.data([right(1)])
    project.write("pyproject.toml", (project.path / "pyproject.toml").read_text())
    project.add("pyproject.toml", '[tool.evalplug]\ngates = ["quiz>=101"]\n')
    project.write("test_unit.py", "def test_unit(): pass\n")
    assert "evalplug/gates" not in project.run("--collect-only").out
    plain = project.run("test_unit.py")
    assert (plain.ret, plain.outcomes) == (0, {"passed": 1})
    project.write("test_broken.py", "import nothing_of_the_kind\n")
    broken = project.run()
    assert broken.ret == 2
    assert "evalplug/gates" not in broken.out
    unscored = project.run("test_quiz.py", "--mode=infer")
    assert unscored.ret == 0
    assert unscored.outcomes == {"passed": 1, "skipped": 1}


def test_mistakes_are_usage_errors(project: Project) -> None:
    project.data([right(1)])
    run = project.run("--eval-gate=quiz")
    assert run.ret == 4
    assert "ERROR: --eval-gate: 'quiz' is no gate" in run.out
    assert project.runs == []


@pytest.mark.parametrize("mode", [(), ("-n2",)], ids=["plain", "n2"])
def test_ctrl_c(project: Project, mode: tuple[str, ...]) -> None:
    rows = [right(1), right(2), *({"q": "wait 0.5", "a": "x"} for _ in range(30))]
    project.data(rows)
    args = ("-p", "no:cacheprovider", "--eval-gate=quiz>=1", "--junitxml=r.xml", *mode)
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", *args],
        cwd=project.path,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )
    wait_for_results(project.path)
    os.killpg(process.pid, signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 2, out
    assert "INTERNALERROR" not in out
    (failed,) = (line for line in out.splitlines() if line.startswith("FAILED evalplug/gates"))
    assert "incomplete" in failed or "stopped before its end" in failed
    assert 'classname="evalplug.gates"' in (project.path / "r.xml").read_text()


def test_an_earlier_run_is_the_baseline(project: Project, mode: tuple[str, ...]) -> None:
    project.data(ROWS)
    old = project.run().path.name
    project.data([*ROWS[:-1], wrong(7)])
    run = project.run("--eval-baseline=latest", *mode)
    assert run.ret == 1
    failed = run.line("FAILED evalplug/gates::quiz>=baseline - ")
    assert "accuracy is 62.50 (n = 8), 75.00 in" in failed
    assert project.run(f"--eval-baseline={old}", "--eval-max-drop=12.5", *mode).ret == 0
    sure = project.run(f"--eval-baseline=outputs/{old}", "--eval-significance=0.05", *mode)
    assert sure.ret == 0
    assert "McNemar p = 1" in sure.line("passed  quiz>=baseline, p<0.05")
    missing = project.run("--eval-baseline=20200101_000000")
    assert missing.ret == 4
    assert "--eval-baseline: no run '20200101_000000'" in missing.out
    itself = project.run("--eval-baseline=latest", "--reuse")
    assert itself.ret == 4
    assert "can't be its own baseline" in itself.out
