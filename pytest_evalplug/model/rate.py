"""Requests and tokens per minute, kept by all processes of a run together.

Two rules, each of them for requests and for tokens:

- what went out in any minute is at most the limit. That is a sliding window of small slots, each
  of which counts until it is wholly out of the minute, and a slot longer, as requests may be on
  their way for different times;
- what goes out is spread over the minute (a token bucket that fills at the limit's rate): a fresh
  minute begins with a small burst, so that servers that look at shorter times have no reason to
  answer 429.

A request's tokens are not known when it goes: they are taken to be many, and corrected when the
reply says how many they were.
"""

from __future__ import annotations

__all__ = ["Admission", "RateLimiter", "estimated_tokens"]

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pytest_evalplug.errors import StorageError
from pytest_evalplug.model.deadline import clocks_stopped
from pytest_evalplug.model.shared import InTurn, SharedState, State
from pytest_evalplug.model.usage import Usage

PERIOD_SECONDS = 60.0
SLOTS = 120
_NOTHING = 1e-6
"""Less than this is an error of rounding."""
_BURST_REQUESTS = 20
_BURST_TOKENS = 10
"""The parts of a minute's limit that may go at once."""
_TEMPLATE_TOKENS = 40
_BYTES_PER_TOKEN = 2
"""Below what any common tokenizer makes of a text, so that the estimate is above the truth."""


class Admission(NamedTuple):
    """A request that may go: the slot that it counts in, and for how many tokens."""

    slot: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Window:
    """The arithmetic of one limit, on a state that is a plain dict.

    ``{"at": when it was last looked at, "level": what may go at once, "slots": [[number, sum]]}``
    """

    limit: int
    period: float
    burst: float

    @property
    def width(self) -> float:
        """A slot's length in seconds."""
        return self.period / SLOTS

    def wait(self, state: State, now: float, amount: float) -> float:
        """Return in how many seconds ``amount`` may go; 0 is now.

        More than the limit goes when nothing else has gone for a minute.
        """
        self._refresh(state, now)
        lacking: float = min(amount, self.burst) - state["level"]
        wait = lacking / self._rate if lacking > _NOTHING else 0.0
        over = sum(count for _, count in state["slots"]) + min(amount, self.limit) - self.limit
        for slot, count in state["slots"]:
            if over <= _NOTHING:
                break
            over -= count
            wait = max(wait, self._end(slot) - now)
        return wait

    def take(self, state: State, now: float, amount: float) -> int:
        """Count ``amount`` as gone now; return its slot."""
        slot = int(now / self.width)
        state["level"] -= amount
        self._add(state, slot, amount)
        return slot

    def correct(self, state: State, now: float, slot: int, difference: float) -> None:
        """Count that what went in ``slot`` was more by ``difference``, or less."""
        self._refresh(state, now)
        state["level"] = min(self.burst, state["level"] - difference)
        if self._end(slot) > now:
            self._add(state, slot, difference)

    @property
    def _rate(self) -> float:
        """Amount per second: as much as the window lets through, so that it seldom stops one."""
        return self.limit / (self.period + 2 * self.width)

    def _end(self, slot: int) -> float:
        """Return when a slot no longer counts."""
        return (slot + 2) * self.width + self.period

    def _refresh(self, state: State, now: float) -> None:
        at = state.get("at", now + 1 + self.period)
        if at > now + 1:  # a new state, or one from before the machine was started again
            state.clear()
            state.update(level=self.burst, slots=[])
        else:
            level = state["level"] + self._rate * max(0.0, now - at)
            state["level"] = min(self.burst, level)
            state["slots"] = [s for s in state["slots"] if self._end(s[0]) > now]
        state["at"] = now

    @staticmethod
    def _add(state: State, slot: int, amount: float) -> None:
        for entry in state["slots"]:
            if entry[0] == slot:
                entry[1] += amount
                return
        state["slots"].append([slot, amount])
        state["slots"].sort()


class RateLimiter:
    """Holds requests back; used by one event loop at a time.

    Without :meth:`share` the limits are those of this object alone. ``clock`` gives seconds and
    must be the same in all processes, as the monotonic clocks of Linux, macOS and Windows are.
    """

    def __init__(
        self,
        requests: int | None,
        tokens: int | None,
        *,
        period: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        period = period or PERIOD_SECONDS
        self._windows: dict[str, Window] = {}
        if requests:
            burst = max(1.0, requests / _BURST_REQUESTS)
            self._windows["requests"] = Window(requests, period, burst)
        if tokens:
            self._windows["tokens"] = Window(tokens, period, max(1.0, tokens / _BURST_TOKENS))
        self._clock = clock
        self._state = SharedState()
        self._queue = InTurn()

    def share(self, path: Path) -> None:
        """Keep the limits together with all that name the same file."""
        self._state = SharedState(path)

    async def admit(
        self, body: Mapping[str, Any], resumed: Callable[[], Awaitable[object]] | None = None
    ) -> Admission:
        """Wait until a request may be sent; requests come in the order of the calls.

        ``resumed`` waits while the server wants nothing: what is admitted then would be wasted.
        """
        tokens = estimated_tokens(body) if "tokens" in self._windows else 0
        with clocks_stopped():
            return await self._admit(tokens, resumed)

    async def _admit(
        self, tokens: int, resumed: Callable[[], Awaitable[object]] | None
    ) -> Admission:
        async with self._queue.turn():
            while True:
                if resumed is not None:
                    await resumed()
                found = await self._state.change(lambda state: self._try(state, tokens))
                if isinstance(found, Admission):
                    return found
                await asyncio.sleep(found)

    async def settle(self, admission: Admission, usage: Mapping[str, int] | None) -> None:
        """Say what a request has used in truth, where the server does.

        Never raises: there is a reply by now. Where nothing can be written, the next :meth:`admit`
        says so.
        """
        used = Usage.of(usage)
        if "tokens" not in self._windows or used is None:
            return
        window, difference = self._windows["tokens"], used.total - admission.tokens
        with suppress(StorageError):
            await self._state.change(
                lambda state: window.correct(
                    state.setdefault("tokens", {}), self._clock(), admission.slot, difference
                )
            )

    def _try(self, state: State, tokens: int) -> Admission | float:
        """Return the admission, or how long to wait."""
        now, slot = self._clock(), 0
        amounts = {"requests": 1, "tokens": tokens}
        states = {name: state.setdefault(name, {}) for name in self._windows}
        wait = max(w.wait(states[name], now, amounts[name]) for name, w in self._windows.items())
        if wait > 0:
            return wait
        for name, window in self._windows.items():
            slot = window.take(states[name], now, amounts[name])
        return Admission(slot, tokens)


def estimated_tokens(body: Mapping[str, Any]) -> int:
    """Return a number of tokens that a request's prompt and reply will hardly exceed."""
    asked = str(body.get("messages") or body.get("prompt") or "")
    limit = body.get("max_tokens") or body.get("max_completion_tokens") or 0
    size = len(asked.encode("utf-8", "surrogatepass"))
    return _TEMPLATE_TOKENS + size // _BYTES_PER_TOKEN + int(limit)
