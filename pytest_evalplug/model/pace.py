"""How fast a server is asked: what it has said, by Retry-After or by refusing, holds for all."""

from __future__ import annotations

__all__ = ["Pace"]

import asyncio
import time

from pytest_evalplug.model.deadline import clocks_stopped


class Pace:
    """Lets at most ``most`` requests be in flight; fewer while the server says it is too much.

    The number is halved by a refusal and grows by one with each round of replies, as TCP does
    (additive increase, multiplicative decrease; Chiu and Jain, 1989): retries alone would come
    back together and be refused together until the patience with each of them is used up.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._limit = float(most)
        self._in_flight = 0
        self._resume_at = 0.0
        self._slowed_at = 0.0
        self._stopped = False
        self._queue: list[asyncio.Future[None]] = []
        self._pausing: set[asyncio.Future[None]] = set()

    async def begin(self) -> float:
        """Wait until a request may be sent, and return the time (monotonic) at which that is.

        The clocks of the samples stand still meanwhile. Once stopped nobody waits. Whoever has
        begun calls :meth:`end`.
        """
        if not self._has_turn():
            with clocks_stopped():
                await self._wait_for_turn()
        self._in_flight += 1
        return time.monotonic()

    def end(self) -> None:
        """Let the next one begin."""
        self._in_flight -= 1
        self._wake_queue()

    def _has_turn(self) -> bool:
        return self._stopped or not (self.held or self._in_flight >= int(self._limit))

    async def _wait_for_turn(self) -> None:
        while not self._has_turn():
            if self.held:
                await self.resumed()
            else:
                self._queue.append(asyncio.get_running_loop().create_future())
                await self._queue[-1]

    @property
    def held(self) -> bool:
        """Has the server asked for a pause that is not over?"""
        return time.monotonic() < self._resume_at

    async def resumed(self) -> None:
        """Sleep while the server wants it."""
        while self.held and not self._stopped:
            await self.pause(self._resume_at - time.monotonic())

    async def pause(self, seconds: float) -> None:
        """Sleep for so long; not longer than until all is stopped."""
        if self._stopped:
            return
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._pausing.add(woken)
        try:
            await asyncio.wait([woken], timeout=seconds)
        finally:
            self._pausing.discard(woken)

    def hold(self, seconds: float) -> None:
        """Send nothing for so long: the server has asked for it."""
        self._resume_at = max(self._resume_at, time.monotonic() + seconds)

    def refused(self, sent_at: float) -> None:
        """Note that a request was one too many; of those sent together, one counts."""
        if sent_at >= self._slowed_at:
            self._limit = max(1.0, min(self._limit, self._in_flight) / 2)
            self._slowed_at = time.monotonic()

    def answered(self) -> None:
        """Note a reply."""
        self._limit = min(self._most, self._limit + 1 / self._limit)

    def stop(self) -> None:
        """Let nobody wait any more."""
        self._stopped = True
        self._wake_queue()
        for woken in self._pausing:
            if not woken.done():
                woken.set_result(None)

    def _wake_queue(self) -> None:
        """Let all look again, in their order: who finds no room waits again, in that order."""
        queue, self._queue = self._queue, []
        for waiting in queue:
            if not waiting.done():
                waiting.set_result(None)
