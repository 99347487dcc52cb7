"""The time that a sample's inference may take."""

from __future__ import annotations

__all__ = ["in_time"]

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from pytest_evalplug.errors import ModelError
from pytest_evalplug.model.deadline import DEADLINES, Deadline

T = TypeVar("T")
SHORTEST_SECONDS = 0.05


async def in_time(work: Coroutine[Any, Any, T], seconds: float) -> T:
    """Return what ``work`` returns; cancel it and raise ModelError when it takes too long.

    The time in which it waits for its turn does not count.
    """
    deadline = Deadline(seconds)
    DEADLINES.set((deadline,))
    task = asyncio.create_task(work)
    try:
        while not task.done():
            if not deadline.remaining:
                deadline.end()
                raise ModelError(
                    f"no reply within {seconds:g} s", fix="Raise --eval-sample-timeout"
                )
            # a clock that is stopped shortly before its end would have this spin
            await asyncio.wait({task}, timeout=max(deadline.remaining, SHORTEST_SECONDS))
        return task.result()
    finally:
        task.cancel()
