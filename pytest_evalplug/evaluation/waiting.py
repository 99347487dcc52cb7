"""Waiting for coroutines from plain code."""

from __future__ import annotations

__all__ = ["cancel_waiting", "soon", "wait_for"]

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from functools import cache
from typing import Any, TypeVar

from pytest_evalplug.errors import EvalplugError
from pytest_evalplug.loops import keep_running

T = TypeVar("T")


def wait_for(awaitable: Awaitable[T]) -> T:
    """Return the awaitable's result, from any thread but the loop's own.

    All of them share one loop in a thread of its own, so that what they share (a semaphore, a
    client's connections) belongs to one loop, and a loop that already runs in the calling thread,
    as in a notebook, is left alone. Raises EvalplugError where the loop would wait for itself.
    """
    loop, thread = _loop()
    if threading.current_thread() is thread:
        if inspect.iscoroutine(awaitable):
            awaitable.close()
        raise EvalplugError(
            "a coroutine calls a plain function that waits for another coroutine",
            fix="Await it instead (judge.ask(...), not judge.generate(...))",
        )
    future = asyncio.run_coroutine_threadsafe(_await(awaitable), loop)
    _futures.add(future)
    try:
        return future.result()
    finally:
        _futures.discard(future)


async def _await(awaitable: Awaitable[T]) -> T:
    return await awaitable


def cancel_waiting() -> None:
    """Cancel all that :func:`wait_for` waits for, in any thread: it raises CancelledError there."""
    for future in list(_futures):
        future.cancel()


def soon(call: Callable[[], object]) -> None:
    """Make a call on the loop of :func:`wait_for`."""
    _loop()[0].call_soon_threadsafe(call)


_futures: set[Future[Any]] = set()
_starting = threading.Lock()


def _loop() -> tuple[asyncio.AbstractEventLoop, threading.Thread]:
    with _starting:  # two threads that come first together must not make two
        return _start()


@cache
def _start() -> tuple[asyncio.AbstractEventLoop, threading.Thread]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(
        target=keep_running, args=(loop,), name="evalplug-scoring", daemon=True
    )
    thread.start()
    return loop, thread
