from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from pytest_evalplug.model.deadline import DEADLINES, Deadline
from pytest_evalplug.model.pace import Pace
from pytest_evalplug.model.retry import RetryPolicy
from pytest_evalplug.types import ModelOutput
from tests.model.asking import ask, make
from tests.servers import OpenAIServer, api_server, delay, error, text

__all__ = ["api_server"]


class Requests:
    """Requests that go when the pace allows, and are over when the test says so."""

    def __init__(self, pace: Pace) -> None:
        self.pace = pace
        self.sent: list[int] = []
        self._over: dict[int, asyncio.Event] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}

    async def start(self, *numbers: int) -> None:
        for number in numbers:
            self._over[number] = asyncio.Event()
            self._tasks[number] = asyncio.create_task(self._request(number))
        await settle()

    async def _request(self, number: int) -> None:
        await self.pace.begin()
        try:
            self.sent.append(number)
            await self._over[number].wait()
        finally:
            self.pace.end()

    async def end(self, *numbers: int) -> None:
        for number in numbers:
            self._over[number].set()
        await settle()

    async def cancel(self, number: int) -> None:
        self._tasks[number].cancel()
        await settle()

    async def close(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def run(most: int, scenario: Callable[[Pace, Requests], Awaitable[None]]) -> None:
    async def main() -> None:
        pace = Pace(most)
        requests = Requests(pace)
        await scenario(pace, requests)
        await requests.close()
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(main())


def test_at_most_so_many_and_in_order() -> None:
    async def scenario(pace: Pace, requests: Requests) -> None:
        await requests.start(*range(6))
        assert requests.sent == [0, 1]
        await requests.end(1)
        assert requests.sent == [0, 1, 2]
        await requests.end(0, 2)
        assert requests.sent == [0, 1, 2, 3, 4]

    run(2, scenario)


def test_a_refusal_halves_it_and_replies_bring_it_back() -> None:
    async def scenario(pace: Pace, requests: Requests) -> None:
        sent_at = time.monotonic()
        await requests.start(*range(8))
        for _ in range(8):
            pace.refused(sent_at)
        await requests.end(*range(8))
        await requests.start(*range(10, 20))
        assert requests.sent[8:] == [10, 11, 12, 13]
        for _ in range(5):  # a round of replies
            pace.answered()
        await requests.end(10)
        assert requests.sent[12:] == [14, 15]
        for _ in range(100):
            pace.answered()
        await requests.end(11)
        assert len(requests.sent) == 8 + 10

    run(8, scenario)


def test_one_request_is_always_allowed() -> None:
    async def scenario(pace: Pace, requests: Requests) -> None:
        for _ in range(9):
            pace.refused(time.monotonic())
        await requests.start(0, 1)
        assert requests.sent == [0]

    run(4, scenario)


def test_a_hold_is_for_all_and_ends() -> None:
    async def scenario(pace: Pace, requests: Requests) -> None:
        started = time.monotonic()
        pace.hold(0.1)
        pace.hold(0.05)
        await requests.start(0, 1)
        while len(requests.sent) < 2:
            await asyncio.sleep(0.005)
        assert time.monotonic() - started >= 0.1

    run(4, scenario)


def test_who_is_cancelled_keeps_nobody_waiting() -> None:
    async def scenario(pace: Pace, requests: Requests) -> None:
        await requests.start(0, 1, 2, 3)
        await requests.cancel(1)
        await requests.cancel(0)
        assert requests.sent == [0, 2]
        await requests.end(2)
        assert requests.sent == [0, 2, 3]

    run(1, scenario)


def test_once_stopped_nobody_waits() -> None:
    async def scenario(pace: Pace, requests: Requests) -> None:
        await requests.start(0, 1)
        pause = asyncio.create_task(pace.pause(600.0))
        pace.hold(600.0)
        await requests.start(2)
        pace.stop()
        await asyncio.wait_for(pause, 60)
        await settle()
        assert requests.sent == [0, 1, 2]
        await pace.pause(600.0)

    run(1, scenario)


def test_the_clocks_stand_still_until_it_is_one_s_turn() -> None:
    deadline = Deadline(600.0)

    async def ticks() -> bool:
        before = deadline.remaining
        await asyncio.sleep(0.005)
        return deadline.remaining < before

    async def scenario(pace: Pace, requests: Requests) -> None:
        await requests.start(0)
        DEADLINES.set((deadline,))
        await requests.start(1)
        assert not await ticks()
        await requests.end(0)
        assert requests.sent == [0, 1]
        assert await ticks()
        pace.hold(600.0)
        await requests.start(2)
        assert not await ticks()

    run(1, scenario)


def test_a_server_with_little_room_is_asked_little(api_server: OpenAIServer) -> None:
    """It answers 429 to all above two at once, and never says how long to wait."""
    api_server.script = lambda call: delay(
        0.01, error(429) if api_server.in_flight > 2 else text("ok")
    )
    retry = RetryPolicy(max_retries=9, busy_base=0.02)
    results = ask(make(api_server, concurrency=16, retry=retry), *map(str, range(60)))
    assert all(isinstance(result, ModelOutput) for result in results)
    assert api_server.max_in_flight == 16
    assert len(api_server.calls) < 60 + 60  # 90; 160 where only those wait that were refused
