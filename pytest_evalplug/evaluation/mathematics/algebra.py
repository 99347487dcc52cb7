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
from contextlib import suppress
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
        self._pending = b""

    @property
    def usable(self) -> bool:
        return self.process.poll() is None

    def send(self, request: dict[str, Any]) -> None:
        """Put a question; returns when the process is ready to think about it.

        Starting and imports take as long as they do, since they are no part of the question's
        time. Raises EvalplugError if they fail.
        """
        try:
            _pipe(self.process.stdin).write(json.dumps(request).encode() + b"\n")
            _pipe(self.process.stdin).flush()
            ready = self.read(_START_SECONDS)
        except (BrokenPipeError, OutOfTime):
            ready = None
        if ready is None:
            raise EvalplugError(
                "the process that compares formulas doesn't start",
                fix=f"Try: {sys.executable} -c 'import math_verify'",
            )

    def read(self, seconds: float) -> dict[str, Any] | None:
        """Return the next line, ``None`` if the process died; raises OutOfTime."""
        deadline = time.monotonic() + seconds
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
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            with suppress(BrokenPipeError):  # a question that it never read
                _pipe(pipe).close()


class ChildAlgebra:
    """Algebra in a child process, started when first asked and shared by all threads.

    All questions put to one instance may take ``seconds`` together, not counting the time until
    it is their turn. If they take longer, OutOfTime is raised and the process killed; the next
    question starts another. If it dies over a question (out of memory), the answers are unequal.
    Raises EvalplugError if no process starts.
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
            try:
                worker.send({**request, "seconds": self.seconds})
                start = time.monotonic()
                answer = worker.read(self.seconds)
            except (OutOfTime, EvalplugError):
                self._stop()
                raise
            self.seconds -= time.monotonic() - start
        return bool((answer or {}).get("equal"))

    @classmethod
    def _started(cls) -> _Worker:
        if cls._worker is None or not cls._worker.usable:
            cls._stop()
            cls._worker = _Worker()
        return cls._worker

    @classmethod
    def _forget(cls) -> None:
        """In a fork, leave the process to its parent."""
        cls._lock = threading.Lock()
        cls._worker = None

    @classmethod
    def _stop(cls) -> None:
        worker, cls._worker = cls._worker, None
        if worker is not None:
            worker.close()


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None  # Popen was asked for pipes
    return pipe


atexit.register(ChildAlgebra._stop)
os.register_at_fork(after_in_child=ChildAlgebra._forget)
