"""Scores that wait for something (a judge, a sandbox) are begun before their item is due."""

from __future__ import annotations

__all__ = ["ScoringAhead"]

from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Any, Generic, TypeVar

from pytest_evalplug.errors import EvalplugError
from pytest_evalplug.types import Detail

C = TypeVar("C", bound=Hashable)
THREADS = 128
"""Scores begun at once; what they wait for has limits of its own."""
DEPTH = 512
"""Scores begun and not yet asked for, where the predictions are all there already."""


class ScoringAhead(Generic[C]):
    """Scores predictions in threads; ``score(case, model, record)`` returns a Detail.

    A thread a sample, so that an author's plain functions may wait as well.
    """

    def __init__(self, score: Callable[[C, str, dict[str, Any]], Detail]) -> None:
        self._score = score
        self._threads = ThreadPoolExecutor(THREADS, "evalplug-scoring")
        self._futures: dict[C, Future[Detail]] = {}
        self._saved: Iterator[tuple[C, str, dict[str, Any]]] = iter(())

    def begin(self, case: C, model: str, record: dict[str, Any]) -> None:
        """Begin to score a prediction that has just arrived."""
        if case not in self._futures:
            self._futures[case] = self._threads.submit(self._score, case, model, record)

    def follow(self, model: str, cases: Iterable[C], read: Callable[[C], dict[str, Any]]) -> None:
        """Begin to score saved predictions, in this order; what ``read`` raises is passed over."""

        def records() -> Iterator[tuple[C, str, dict[str, Any]]]:
            for case in cases:
                try:
                    yield case, model, read(case)
                except EvalplugError:
                    continue  # its item reports that

        self._saved = records()
        self._top_up()

    def take(
        self, case: C, model: str, record: dict[str, Any], tick: Callable[[], None] | None = None
    ) -> Detail:
        """Return the score, waiting for it; ``tick`` is called while it waits.

        Raises what scoring raised.
        """
        self.begin(case, model, record)
        future = self._futures.pop(case)
        self._top_up()
        while True:
            try:
                return future.result(timeout=0.2)
            except (TimeoutError, FutureTimeoutError):
                if future.done():
                    raise
                if tick:
                    tick()

    def close(self) -> None:
        """Begin nothing more; what runs in threads is left to end by itself."""
        self._saved = iter(())
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _top_up(self) -> None:
        while len(self._futures) < DEPTH and (following := next(self._saved, None)):
            self.begin(*following)
