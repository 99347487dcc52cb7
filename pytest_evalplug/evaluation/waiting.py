"""Waiting for coroutines from plain code."""

from __future__ import annotations

__all__ = ["wait_for"]

import asyncio
import threading
from collections.abc import Awaitable
from functools import cache
from typing import TypeVar

T = TypeVar("T")


def wait_for(awaitable: Awaitable[T]) -> T:
    """Return the awaitable's result, from any thread but the loop's own.

    All of them share one loop in a thread of its own, so that what they share (a semaphore, a
    client's connections) belongs to one loop, and a loop that already runs in the calling thread,
    as in a notebook, is left alone.
    """
    return asyncio.run_coroutine_threadsafe(_await(awaitable), _loop()).result()


async def _await(awaitable: Awaitable[T]) -> T:
    return await awaitable


_starting = threading.Lock()


def _loop() -> asyncio.AbstractEventLoop:
    with _starting:  # two threads that come first together must not make two
        return _start()


@cache
def _start() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="evalplug-scoring", daemon=True).start()
    return loop
