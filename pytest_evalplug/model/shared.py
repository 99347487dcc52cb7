"""A few numbers that all processes of a run change together."""

from __future__ import annotations

__all__ = ["InTurn", "SharedState"]

import asyncio
import json
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import filelock

from pytest_evalplug.run.jsonio import storing

State: TypeAlias = dict[str, Any]
T = TypeVar("T")

_RETRY_SECONDS = 0.001


class SharedState:
    """A JSON object in a file, read and written under a lock; without a file, one in memory.

    A kill leaves it as it was before or after a change. One that can't be read counts as empty:
    what is kept here is worth a minute, never a prediction.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._memory: State = {}
        self._lock: filelock.BaseFileLock | None = None
        if path is not None:
            with storing(path):
                path.parent.mkdir(parents=True, exist_ok=True)
            self._lock = filelock.FileLock(path.with_suffix(".lock"))

    async def change(self, function: Callable[[State], T]) -> T:
        """Return what ``function`` does; it may change the state, and must be quick.

        The event loop goes on while another process has the lock. Raises StorageError if the file
        can't be written.
        """
        if self._lock is None or self._path is None:
            return function(self._memory)
        with storing(self._path):
            await _acquire(self._lock)
            try:
                state = _read(self._path)
                before = json.dumps(state)
                result = function(state)
                after = json.dumps(state)
                if after != before:
                    _replace(self._path, after)
                return result
            finally:
                self._lock.release()


async def _acquire(lock: filelock.BaseFileLock) -> None:
    while True:
        try:
            lock.acquire(timeout=0)
        except filelock.Timeout:
            await asyncio.sleep(_RETRY_SECONDS * random.uniform(0.5, 1.5))
        else:
            return


def _read(path: Path) -> State:
    try:
        state = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return state if isinstance(state, dict) else {}


def _replace(path: Path, text: str) -> None:
    new = path.with_suffix(".new")  # only the lock's holder writes
    new.write_text(text, encoding="ascii")
    new.replace(path)


class InTurn:
    """Lets coroutines of one loop through one by one, in the order they came."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = asyncio.Lock()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait until those that came before are through."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:  # a lock is of the loop that it was first used on
            self._loop, self._lock = loop, asyncio.Lock()
        async with self._lock:
            yield
