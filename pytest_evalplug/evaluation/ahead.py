"""Scores that wait for something (a judge, a sandbox) are begun before their item is due."""

from __future__ import annotations

__all__ = ["ScoringAhead"]

import itertools
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import Future, wait
from queue import SimpleQueue
from typing import Any, Generic, NamedTuple, TypeVar

from pytest_evalplug.errors import EvalplugError
from pytest_evalplug.evaluation.waiting import cancel_waiting
from pytest_evalplug.types import Detail

C = TypeVar("C", bound=Hashable)
THREADS = 128
DEPTH = 512
"""Scores begun and not yet asked for, where the predictions are all there already."""


class _Job(NamedTuple):
    future: Future[Detail]
    arguments: tuple[Any, str, dict[str, Any]]


class ScoringAhead(Generic[C]):
    """Scores predictions in threads; ``score(case, model, record)`` returns a Detail.

    A thread a sample, so that an author's plain functions may wait as well: at most ``threads``,
    and none of them keeps the process alive. A score is kept until :meth:`forget`.
    """

    def __init__(self, score: Callable[[C, str, dict[str, Any]], Detail]) -> None:
        self.threads = THREADS
        self._score = score
        self._futures: dict[C, Future[Detail]] = {}
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._saved: Iterator[tuple[C, str, dict[str, Any]]] = iter(())
        self._lock = threading.Lock()
        self._running = 0
        self._idle = 0
        self._waiting = 0
        self._closed = False

    def begin(self, case: C, model: str, record: dict[str, Any]) -> Future[Detail]:
        """Begin to score a prediction, once; return its future. May be called from any thread."""
        with self._lock:
            if case in self._futures:
                return self._futures[case]
            future = self._futures[case] = Future[Detail]()
            if self._closed:
                future.cancel()
                return future
            self._waiting += 1
            if self._waiting > self._idle and self._running < self.threads:
                self._running += 1
                threading.Thread(target=self._work, name="evalplug-scoring", daemon=True).start()
            self._jobs.put(_Job(future, (case, model, record)))
            return future

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

        Raises what scoring raised.
        """
        future = self.begin(case, model, record)
        while not future.done():
            wait([future], timeout=0.2)
            if tick and not future.done():
                tick()
        return future.result()

    def forget(self, case: C) -> None:
        """Drop a score whose item is over."""
        with self._lock:
            self._futures.pop(case, None)
        self._top_up()

    def close(self) -> None:
        """Begin nothing more, and cancel what waits; what computes is left to end by itself."""
        with self._lock:
            self._closed = True
            self._saved = iter(())
            for future in self._futures.values():
                future.cancel()
            for _ in range(self._running):
                self._jobs.put(None)
        cancel_waiting()

    def _work(self) -> None:
        while (job := self._next()) is not None:
            if not job.future.set_running_or_notify_cancel():
                continue
            try:
                job.future.set_result(self._score(*job.arguments))
            except BaseException as error:  # whatever an author's code raises belongs to its item
                job.future.set_exception(error)

    def _next(self) -> _Job | None:
        with self._lock:
            self._idle += 1
        job = self._jobs.get()
        with self._lock:
            self._idle -= 1
            self._waiting -= 1
        return job

    def _top_up(self) -> None:
        while len(self._futures) < DEPTH and (following := next(self._saved, None)):
            self.begin(*following)
