from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from pathlib import Path

import pytest

from pytest_evalplug.errors import EvalplugError
from pytest_evalplug.evaluation.mathematics.algebra import ChildAlgebra, OutOfTime
from pytest_evalplug.evaluation.mathematics.expression import Node, read_expression
from pytest_evalplug.evaluation.mathematics.tokens import tokenize

SLOW = r"\sum_{k=1}^{10^9} k^{k}"


def node(latex: str) -> Node:
    return read_expression(tokenize(latex))


def worker_pid() -> int:
    assert ChildAlgebra._worker is not None
    return ChildAlgebra._worker.process.pid


def test_questions_go_to_one_process() -> None:
    assert ChildAlgebra(5).same_value(node(r"\sqrt{8}"), node(r"2\sqrt{2}"))
    first = worker_pid()
    assert not ChildAlgebra(5).same_value(node("x"), node("y"))
    assert ChildAlgebra(5).multiples(node("x"), node("2x"), positive=True)
    assert ChildAlgebra(5).same_latex(r"\int_0^1 2x\,dx", "1")
    assert not ChildAlgebra(5).same_latex(r"\int_0^1 2x\,dx", "2")
    assert not ChildAlgebra(5).same_latex(r"\nothing{", "2")
    assert worker_pid() == first


def test_a_late_process_is_killed_collected_and_replaced() -> None:
    ChildAlgebra(5).same_value(node("x"), node("y"))
    late = worker_pid()
    with pytest.raises(OutOfTime):
        ChildAlgebra(0.5).same_latex(SLOW, "1")
    assert not Path(f"/proc/{late}").exists()  # no zombie either
    assert ChildAlgebra(5).same_value(node("2x"), node("x+x"))
    assert worker_pid() != late


def test_the_time_of_one_comparison_is_shared_by_its_questions() -> None:
    with pytest.raises(OutOfTime):
        ChildAlgebra(0).same_value(node("x"), node("y"))


def test_a_process_that_was_killed_is_replaced() -> None:
    ChildAlgebra(5).same_value(node("x"), node("y"))
    os.kill(worker_pid(), signal.SIGKILL)
    os.waitid(os.P_PID, worker_pid(), os.WEXITED | os.WNOWAIT)
    assert ChildAlgebra(5).same_value(node("2x"), node("x+x"))


def test_the_process_has_limits() -> None:
    ChildAlgebra(5).same_value(node("x"), node("y"))
    limits = Path(f"/proc/{worker_pid()}/limits").read_text()
    memory = next(line for line in limits.splitlines() if line.startswith("Max address space"))
    assert memory.split()[3] == str(2 * 1024**3)
    cpu = next(line for line in limits.splitlines() if line.startswith("Max cpu time"))
    assert int(cpu.split()[3]) < 60


def test_a_process_that_does_not_start_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    ChildAlgebra._stop()
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(EvalplugError, match="doesn't start"):
        ChildAlgebra(5).same_value(node("x"), node("y"))
    monkeypatch.undo()
    assert ChildAlgebra(5).same_value(node("2x"), node("x+x"))


def _in_a_fork() -> None:
    equal = ChildAlgebra(5).same_value(node("2x"), node("x+x"))
    ChildAlgebra._stop()
    os._exit(0 if equal else 1)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # forks of processes with threads
def test_a_fork_starts_its_own() -> None:
    ChildAlgebra(5).same_value(node("x"), node("y"))
    parents = worker_pid()
    fork = multiprocessing.get_context("fork").Process(target=_in_a_fork)
    fork.start()
    fork.join(30)
    assert fork.exitcode == 0
    assert worker_pid() == parents
    assert ChildAlgebra(5).same_value(node("2x"), node("x+x"))
