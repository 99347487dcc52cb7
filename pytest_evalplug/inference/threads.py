"""Threads for other people's plain functions, which may never return."""

from __future__ import annotations

__all__ = ["DaemonThreads"]

import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from queue import SimpleQueue
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class DaemonThreads(Executor):
    """At most ``count`` threads; unlike a ThreadPoolExecutor's, none keeps the process alive."""

    def __init__(self, count: int, name: str) -> None:
        self._count = count
        self._name = name
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        self._free = 0
        """Threads without a job, less the jobs that wait for one."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Call ``fn`` in a thread as soon as one is free."""
        future: Future[T] = Future()

        def job() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                result = fn(*args, **kwargs)
            except StopIteration as error:  # which no coroutine can raise
                future.set_exception(RuntimeError(repr(error)))
            except BaseException as error:
                future.set_exception(error)
            else:
                future.set_result(result)

        with self._lock:
            self._free -= 1
            if self._free < 0 and self._threads < self._count:
                self._threads += 1
                self._free += 1
                threading.Thread(target=self._work, name=self._name, daemon=True).start()
        self._jobs.put(job)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let each thread end when it has no job; never waits for one."""
        for _ in range(self._threads):
            self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()
            del job  # what it refers to may be large
            with self._lock:
                self._free += 1
