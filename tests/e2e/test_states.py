"""The four states, and the exit status."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from functools import partial

import pytest

from .project import Project, Row, right, wait_for_results, wrong

BROKEN: Row = {"q": "fail the server is tired", "a": "x"}


def test_four_states(project: Project, every_mode: tuple[str, ...]) -> None:
    project.data([right(1), wrong(2), BROKEN, right(3)])
    run = project.run(*every_mode)
    assert run.ret == 1
    assert run.outcomes == {"passed": 2, "wrong": 1, "errors": 1}
    assert "Traceback" not in run.out
    assert "another exception" not in run.out
    assert "test_sample[default-2] - Failed: the server" in run.line("ERROR test_quiz.py")
    result = run.result()
    assert result["accuracy"] == pytest.approx(200 / 3)
    assert result["run"]["if_errors_wrong"] == {"accuracy": pytest.approx(50)}
    assert [result["run"][f"num_{what}"] for what in ("samples", "scored", "errors")] == [4, 3, 1]
    assert "2 right of 3 scored = 66.7; 1 error; 50.0 if errors count as wrong" in run.out


def test_a_wrong_answer_is_a_letter_and_a_few_lines(project: Project) -> None:
    project.data([right(0), wrong(1), wrong(2), wrong(3), wrong(4)])
    run = project.run()
    assert "test_quiz.py .wwww" in run.out
    assert run.outcomes == {"wrong": 4, "passed": 1}
    assert "quiz, fake: 3 of 4 wrong answers" in run.out
    assert "default-1: pred '1', reference 'something else'" in run.out
    assert "default-4" not in run.out
    assert "FAILED" not in run.out
    assert project.run("-v").line("default-1]").count("WRONG") == 1
    assert "default-4: pred" in project.run("--eval-show-wrong=4").out


def test_wrong_answers_alone_exit_0_and_run_again(project: Project, mode: tuple[str, ...]) -> None:
    project.data([right(0), wrong(1), right(2), wrong(3)])
    first = project.run(*mode)
    assert first.ret == 0
    assert first.outcomes == {"passed": 2, "wrong": 2}
    project.asked()

    again = project.run("--lf", "--eval-strict", *mode)
    assert again.ret == 1
    assert again.outcomes["wrong"] == 2
    assert "passed" not in again.outcomes
    assert sorted(project.asked()) == ["say 1", "say 3"]
    assert again.result()["run"]["partial"]


def test_wrong_answers_can_be_expected(project: Project, mode: tuple[str, ...]) -> None:
    project.data([right(0), wrong(1)])
    run = project.run("--eval-wrong=xfail", *mode)
    assert run.ret == 0
    assert run.outcomes == {"passed": 1, "xfailed": 1}
    assert run.result()["accuracy"] == 50.0


@pytest.mark.parametrize("stop", ["-x", "--maxfail=2"])
def test_a_run_that_stopped_is_never_0(project: Project, mode: tuple[str, ...], stop: str) -> None:
    rows = [wrong(1), wrong(2), *[right(n) for n in range(3, 40)]]
    project.data(rows)
    run = project.run(stop, *mode)
    assert run.ret == 1
    if "-n2" not in mode:
        assert run.outcomes == {"wrong": 1 if stop == "-x" else 2}
    assert run.result()["run"]["partial"]
    assert "partial run" in run.out


def test_maxfail_not_reached_is_0(project: Project) -> None:
    project.data([wrong(1), right(2)])
    assert project.run("--maxfail=2").ret == 0


def test_an_ordinary_failure_is_1(project: Project, mode: tuple[str, ...]) -> None:
    project.data([wrong(1)])
    project.write("test_ordinary.py", "def test_it(): assert 1 == 2\n")
    run = project.run(*mode)
    assert run.ret == 1
    assert run.outcomes == {"wrong": 1, "failed": 1}
    assert "assert 1 == 2" in run.out


def test_a_module_that_fails_to_import_is_1(project: Project) -> None:
    project.data([wrong(1)])
    project.write("test_broken.py", "import no_such_module\n")
    run = project.run("--continue-on-collection-errors")
    assert run.ret == 1
    assert run.outcomes == {"wrong": 1, "errors": 1}


def test_an_assert_of_the_author_is_an_ordinary_failure(project: Project) -> None:
    project.data([right(1)])
    project.add(
        "test_quiz.py",
        """
    def test_sample(self, prediction):
        assert prediction == "2"
""",
    )
    run = project.run()
    assert run.ret == 1
    assert run.outcomes == {"failed": 1}
    assert "assert '1' == '2'" in run.out


def test_ctrl_c_keeps_what_arrived(project: Project, mode: tuple[str, ...]) -> None:
    rows = [right(n) for n in range(4)] + [{"q": f"wait 0.3{n}", "a": ""} for n in range(60)]
    project.data(rows)
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", *mode],
        cwd=project.path,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # a shell's background job, as a CI may be, ignores Ctrl-C
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )
    wait_for_results(project.path)
    os.killpg(process.pid, signal.SIGINT)  # a terminal sends it to the workers, too
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "INTERNALERROR" not in out
    assert "KeyboardInterrupt" in out
    assert "evaluation summary" in out
    assert "partial run" in out
    (run,) = project.runs
    predictions = (run / "predictions/fake/quiz.json").read_text()
    assert '"0"' in predictions
    assert not list((run / "journal").glob("*.jsonl"))
