"""Scores that wait for something (a judge, a sandbox) are begun before their item is due."""

from __future__ import annotations

__all__ = ["ScoringAhead"]

import itertools
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import Future, wait
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from pytest_evalplug.errors import EvalplugError, ModelError, one_line
from pytest_evalplug.evaluation.waiting import cancel_waiting, soon
from pytest_evalplug.model.deadline import DEADLINES, Deadline
from pytest_evalplug.types import Detail

C = TypeVar("C", bound=Hashable)
THREADS = 128
DEPTH = 512
"""Scores begun and not yet asked for, where the predictions are all there already."""


@dataclass(slots=True)
class _Job:
    future: Future[Detail]
    arguments: tuple[Any, str, dict[str, Any]]
    deadline: Deadline | None
    left: bool = False
    """Nobody waits for it any more; its thread may never come back."""


class ScoringAhead(Generic[C]):
    """Scores predictions in threads; ``score(case, model, record)`` returns a Detail.

    A thread a sample, so that an author's plain functions may wait as well: at most ``threads``,
    and none of them keeps the process alive. A score is kept until :meth:`forget`.
    """

    def __init__(
        self, score: Callable[[C, str, dict[str, Any]], Detail], timeout: float | None = None
    ) -> None:
        self.threads = THREADS
        self._score = score
        self._timeout = timeout
        """How long a score may take, in seconds, from when a thread begins with it."""
        self._begun: dict[C, _Job] = {}
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._saved: Iterator[tuple[C, str, dict[str, Any]]] = iter(())
        self._lock = threading.Lock()
        self._running = 0
        self._idle = 0
        self._waiting = 0
        self._closed = False

    def begin(self, case: C, model: str, record: dict[str, Any]) -> None:
        """Begin to score a prediction, once. May be called from any thread."""
        self._begin(case, model, record)

    def _begin(self, case: C, model: str, record: dict[str, Any]) -> _Job:
        with self._lock:
            if case in self._begun:
                return self._begun[case]
            deadline = None if self._timeout is None else Deadline(self._timeout)
            job = self._begun[case] = _Job(Future(), (case, model, record), deadline)
            if self._closed:
                job.future.cancel()
                return job
            if deadline is not None:
                deadline.stop()
            self._waiting += 1
            self._add_thread()
            self._jobs.put(job)
            return job

    def follow(self, model: str, cases: Iterable[C], read: Callable[[C], dict[str, Any]]) -> None:
        """Begin to score saved predictions, in this order; what ``read`` raises is passed over."""

        def records() -> Iterator[tuple[C, str, dict[str, Any]]]:
            for case in cases:
                try:
                    yield case, model, read(case)
                except EvalplugError:
                    continue  # its item reports that

        self._saved = itertools.chain(self._saved, records())
        self._top_up()

    def take(
        self, case: C, model: str, record: dict[str, Any], tick: Callable[[], None] | None = None
    ) -> Detail:
        """Return the score, waiting for it; ``tick`` is called while it waits.

        Raises what scoring raised, or ModelError when its time is up.
        """
        job = self._begin(case, model, record)
        while not job.future.done():
            remaining = 0.2 if job.deadline is None else job.deadline.remaining
            if not remaining:
                self._leave(job)
                raise ModelError(
                    f"no score within {self._timeout:g} s", fix="Raise --eval-sample-timeout"
                )
            wait([job.future], timeout=min(0.2, remaining))
            if tick and not job.future.done():
                tick()
        return job.future.result()

    def _leave(self, job: _Job) -> None:
        """End what it waits for, and let another thread take the place of one that hangs."""
        if job.deadline is not None:
            soon(job.deadline.end)
        with self._lock:
            if not job.left:
                job.left = True
                self._running -= 1
                self._add_thread()

    def _add_thread(self) -> None:
        if self._waiting > self._idle and self._running < self.threads:
            self._running += 1
            threading.Thread(target=self._work, name="evalplug-scoring", daemon=True).start()

    def forget(self, case: C) -> None:
        """Drop a score whose item is over."""
        with self._lock:
            self._begun.pop(case, None)
        self._top_up()

    def close(self) -> None:
        """Begin nothing more, and cancel what waits; what computes is left to end by itself."""
        with self._lock:
            self._closed = True
            self._saved = iter(())
            for job in self._begun.values():
                job.future.cancel()
            for _ in range(self._running):
                self._jobs.put(None)
        cancel_waiting()

    def _work(self) -> None:
        while (job := self._next()) is not None:
            if not job.future.set_running_or_notify_cancel():
                continue
            if job.deadline is not None:
                job.deadline.go()
                DEADLINES.set((job.deadline,))
            try:
                job.future.set_result(self._score(*job.arguments))
            except BaseException as error:  # whatever an author's code raises belongs to its item
                job.future.set_exception(_harmless(error))
            if job.left:
                return

    def _next(self) -> _Job | None:
        with self._lock:
            self._idle += 1
        job = self._jobs.get()
        with self._lock:
            self._idle -= 1
            self._waiting -= 1
        return job

    def _top_up(self) -> None:
        while len(self._begun) < DEPTH and (following := next(self._saved, None)):
            self.begin(*following)


def _harmless(error: BaseException) -> BaseException:
    """Return an error that ends an item, not the session."""
    if not isinstance(error, (SystemExit, KeyboardInterrupt)):
        return error
    harmless = RuntimeError(one_line(error))
    harmless.__cause__ = error
    return harmless
