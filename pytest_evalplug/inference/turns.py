"""Whose turn it is: pytest's thread and the engine's share one interpreter lock."""

from __future__ import annotations

__all__ = ["Turns"]

import asyncio
import selectors
import sys
import threading


class Turns:
    """Makes the engine's event loop, and lets another thread wait until it has nothing to do.

    Python hands the lock over every 5 ms, also to a thread that could as well come later. An item
    can: a request that is not sent, or a reply that is not read, holds up a whole server.
    """

    def __init__(self) -> None:
        self._idle = threading.Event()
        self._idle.set()

    def new_loop(self) -> asyncio.AbstractEventLoop:
        """Return an event loop for the engine's thread."""
        if sys.platform == "win32":  # its default loop has no selector
            return asyncio.new_event_loop()
        return asyncio.SelectorEventLoop(_IdleSelector(self._idle))

    def let_engine(self, seconds: float) -> bool:
        """Wait until the loop waits for something itself; False if it never did in ``seconds``."""
        return self._idle.wait(seconds)


class _IdleSelector(selectors.DefaultSelector):
    """Says when its loop waits."""

    def __init__(self, idle: threading.Event) -> None:
        super().__init__()
        self._idle = idle

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout == 0:  # more callbacks are ready
            return super().select(timeout)
        self._idle.set()
        try:
            return super().select(timeout)
        finally:
            self._idle.clear()
