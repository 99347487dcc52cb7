"""Deals calls to the replicas of a model; what a lost one was working on goes to another."""

from __future__ import annotations

__all__ = ["IN_FLIGHT", "LostError", "Pool", "Replica"]

import asyncio
import logging
from collections.abc import Sequence
from typing import Any, Protocol

from pytest_evalplug.errors import EvalplugError, FatalModelError, ModelError
from pytest_evalplug.logs import RUN_LOG

log = logging.getLogger("pytest_evalplug.model")

IN_FLIGHT = 2
"""Calls that a replica has at once: it works on one, and the next is there when that is done."""
ATTEMPTS = 4
"""Replicas that a call may lose. One more would be taken down by what it holds."""
PATIENCE_SECONDS = 900.0
"""How long calls wait while no replica is there: a node has to come back and load the model."""
PAUSE_SECONDS = 1.0
"""Between two looks whether a lost replica is back."""


class LostError(Exception):
    """A replica died or can't be reached; with ``forever`` it will not come back."""

    def __init__(self, why: str, *, forever: bool = False) -> None:
        super().__init__(why)
        self.forever = forever


class Replica(Protocol):
    """One copy of a model, elsewhere."""

    async def load(self) -> None:
        """Wait until the model is there.

        Raises LostError, ModelError if this one can't have it, EvalplugError if none can.
        """
        ...

    async def call(self, method: str, *args: Any) -> Any:
        """Call a method of the model. Raises LostError, or what the method raises."""
        ...


class _Place:
    """A replica, and how it is."""

    def __init__(self, number: int, replica: Replica) -> None:
        self.number = number
        self.replica = replica
        self.calls = 0
        self.up = False
        self.lost = asyncio.Event()


class Pool:
    """Used from one asyncio loop, from the first :meth:`call` on."""

    def __init__(self, name: str, replicas: Sequence[Replica]) -> None:
        self._where = f"model {name!r}"
        self._places = [_Place(number, replica) for number, replica in enumerate(replicas)]
        self._keepers: list[asyncio.Task[None]] = []
        self._changed = asyncio.Event()
        self._fatal: FatalModelError | None = None

    async def call(self, method: str, *args: Any) -> Any:
        """Return what the least busy replica says; wait for one, and ask another if it is lost.

        Raises ModelError after ATTEMPTS, FatalModelError once no replica is left.
        """
        if not self._keepers:
            self._keepers = [asyncio.create_task(self._keep(place)) for place in self._places]
        for attempt in range(1, ATTEMPTS + 1):
            place = await self._free()
            place.calls += 1
            try:
                return await place.replica.call(method, *args)
            except LostError as error:
                log.warning(
                    "%s: replica %d is lost, %s() is asked again (attempt %d): %s",
                    *(self._where, place.number, method, attempt, error),
                )
                place.up = False
                place.lost.set()
            finally:
                place.calls -= 1
                self._changed.set()
        raise ModelError(
            f"{ATTEMPTS} replicas were lost while they worked on this batch",
            where=self._where,
            fix="Their logs are where Ray keeps its own; a smaller batch_size needs less memory",
        )

    def close(self) -> None:
        """Look after the replicas no longer."""
        for keeper in self._keepers:
            keeper.cancel()

    async def _free(self) -> _Place:
        """Return the least busy of the replicas that can take a call."""
        while True:
            if self._fatal:
                raise self._fatal
            free = [place for place in self._places if place.up and place.calls < IN_FLIGHT]
            if free:
                return min(free, key=lambda place: place.calls)
            self._changed.clear()
            try:
                await asyncio.wait_for(self._changed.wait(), PATIENCE_SECONDS)
            except asyncio.TimeoutError:
                if not any(place.up for place in self._places):
                    self._fail(f"no replica has come back within {PATIENCE_SECONDS:.0f} seconds")

    async def _keep(self, place: _Place) -> None:
        """Load a replica's model, and again each time that it comes back."""
        was_up = False
        while True:
            try:
                await place.replica.load()
            except LostError as error:
                if error.forever:
                    return self._give_up(place, error)
                await asyncio.sleep(PAUSE_SECONDS)
                continue
            except ModelError as error:  # of this one only, such as a GPU that has no room
                return self._give_up(place, error)
            except EvalplugError as error:
                if was_up:  # the node that it came back on lacks something
                    return self._give_up(place, error)
                self._fatal = FatalModelError(error.what, where=error.where, fix=error.fix)
                return self._changed.set()
            RUN_LOG.info("%s: replica %d is there", self._where, place.number)
            was_up = place.up = True
            place.lost.clear()
            self._changed.set()
            await place.lost.wait()

    def _give_up(self, place: _Place, error: Exception) -> None:
        log.warning("%s: replica %d will not come back: %s", self._where, place.number, error)
        self._places.remove(place)
        if not self._places:
            self._fail("no replica is left")
        self._changed.set()

    def _fail(self, what: str) -> None:
        self._fatal = FatalModelError(
            what, where=self._where, fix="Look at the cluster, then go on with --reuse"
        )
