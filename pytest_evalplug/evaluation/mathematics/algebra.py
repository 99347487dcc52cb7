"""The worker process, as seen from this one."""

from __future__ import annotations

__all__ = ["ChildAlgebra", "OutOfTime"]

import atexit
import json
import os
import selectors
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import IO, Any

from pytest_evalplug.errors import EvalplugError
from pytest_evalplug.evaluation.mathematics.expression import Node

_START_SECONDS = 60.0
_PACKAGE_HOME = Path(__file__).resolve().parents[3]


class OutOfTime(Exception):
    """The comparison took longer than it may."""


class _Worker:
    """One child process; what it is told and what it answers is JSON, one line each."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pytest_evalplug.evaluation.mathematics.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=_PACKAGE_HOME,  # -m looks there first, and not among the user's files
            start_new_session=True,  # Ctrl-C is for the run, which then closes the worker
        )
        self.owner = os.getpid()
        self._pending = b""
        if "ready" not in (self._read(time.monotonic() + _START_SECONDS) or {}):
            self.close()
            raise EvalplugError("the process that compares formulas doesn't start")

    @property
    def usable(self) -> bool:
        return self.owner == os.getpid() and self.process.poll() is None

    def ask(self, request: dict[str, Any], deadline: float) -> dict[str, Any] | None:
        """Return the answer, ``None`` if the process died over it; raises OutOfTime."""
        try:
            _pipe(self.process.stdin).write(json.dumps(request).encode() + b"\n")
            _pipe(self.process.stdin).flush()
            return self._read(deadline)
        except BrokenPipeError:
            return None

    def _read(self, deadline: float) -> dict[str, Any] | None:
        stdout = _pipe(self.process.stdout)
        with selectors.DefaultSelector() as selector:
            selector.register(stdout, selectors.EVENT_READ)
            while b"\n" not in self._pending:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    raise OutOfTime
                chunk = os.read(stdout.fileno(), 65536)
                if not chunk:
                    return None
                self._pending += chunk
        line, _, self._pending = self._pending.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """Kill the process and collect it."""
        if self.owner != os.getpid():  # a fork's copy: the process is the parent's
            return
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            _pipe(pipe).close()


class ChildAlgebra:
    """Algebra in a child process, started when first asked and shared by all threads.

    A question has until ``deadline`` (of ``time.monotonic``), counted only while it is its turn.
    If it takes longer, OutOfTime is raised, and the process killed and replaced. One that dies over
    a question (out of memory) makes the answers unequal. Raises EvalplugError if no process starts.
    """

    _lock = threading.Lock()
    _worker: _Worker | None = None

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def same_value(self, a: Node, b: Node) -> bool:
        """Tell whether two expressions are equal for all values of their variables."""
        return self._ask(op="same_value", nodes=[a, b])

    def multiples(self, a: Node, b: Node, *, positive: bool) -> bool:
        """Tell whether one expression is a constant, not zero, times the other."""
        return self._ask(op="multiples", nodes=[a, b], positive=positive)

    def same_latex(self, gold: str, pred: str) -> bool:
        """Tell whether math-verify calls two formulas equal."""
        return self._ask(op="same_latex", latex=[gold, pred])

    def _ask(self, **request: Any) -> bool:
        if self.seconds <= 0:
            raise OutOfTime
        with self._lock:
            worker = self._started()
            start = time.monotonic()
            try:
                answer = worker.ask({**request, "seconds": self.seconds}, start + self.seconds)
            except OutOfTime:
                self._stop()
                raise
            finally:
                self.seconds -= time.monotonic() - start
            if answer is None:
                self._stop()
        return bool((answer or {}).get("equal"))

    @classmethod
    def _started(cls) -> _Worker:
        if cls._worker is None or not cls._worker.usable:
            cls._stop()
            cls._worker = _Worker()
        return cls._worker

    @classmethod
    def _stop(cls) -> None:
        worker, cls._worker = cls._worker, None
        if worker is not None:
            worker.close()


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None  # Popen was asked for pipes
    return pipe


atexit.register(ChildAlgebra._stop)
