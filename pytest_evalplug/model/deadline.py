"""How long a sample may take, without the time in which it waits for its turn."""

from __future__ import annotations

__all__ = ["DEADLINES", "Deadline", "clocks_stopped"]

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

DEADLINES: ContextVar[tuple[Deadline, ...]] = ContextVar("evalplug_deadlines", default=())
"""Those of the samples for which the current task or thread works."""


class Deadline:
    """A clock that runs down and can be stopped. Thread-safe."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._left = seconds
        self._since: float | None = time.monotonic()
        self._stops = 0
        self._at_end: list[Callable[[], object]] = []
        self._lock = threading.Lock()

    @property
    def remaining(self) -> float:
        """Seconds until the time is up, at least 0."""
        with self._lock:
            return self._remaining()

    def stop(self) -> None:
        """Stop the clock; it goes on when each who stopped it has called :meth:`go`."""
        with self._lock:
            self._left, self._since = self._remaining(), None
            self._stops += 1

    def go(self) -> None:
        """Let the clock run again."""
        with self._lock:
            self._stops -= 1
            if not self._stops:
                self._since = time.monotonic()

    def at_end(self, call: Callable[[], object]) -> None:
        """Have ``call`` made by :meth:`end`, on the loop that calls it."""
        self._at_end.append(call)

    def end(self) -> None:
        """Say that nobody waits any more for what was begun."""
        for call in self._at_end:
            call()

    def _remaining(self) -> float:
        run = 0.0 if self._since is None else time.monotonic() - self._since
        return max(0.0, self._left - run)


@contextmanager
def clocks_stopped() -> Iterator[None]:
    """Stop the clocks of the current samples, which only wait for their turn."""
    deadlines = DEADLINES.get()
    for deadline in deadlines:
        deadline.stop()
    try:
        yield
    finally:
        for deadline in deadlines:
            deadline.go()
