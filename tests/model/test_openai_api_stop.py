"""Once a run is stopped: nothing goes out that was waiting to, and what is answered is kept."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from aiohttp import web

from pytest_evalplug.model.base import GenerationParams
from pytest_evalplug.model.deadline import DEADLINES, Deadline
from pytest_evalplug.model.openai_api import OpenAIBackend
from pytest_evalplug.model.retry import RetryPolicy
from pytest_evalplug.types import ModelOutput
from tests.model.asking import make
from tests.servers import Action, Call, OpenAIServer, api_server, error, in_turn, text

__all__ = ["api_server"]


class Session:
    """Requests of one backend, each on its own, as the engine makes them."""

    def __init__(self, backend: OpenAIBackend) -> None:
        self.backend = backend
        self.tasks: list[asyncio.Task[Any]] = []

    def start(self, *prompts: str) -> None:
        for prompt in prompts:
            coroutine = self.backend.generate([prompt], GenerationParams())
            self.tasks.append(asyncio.ensure_future(coroutine))

    async def waiting(self, count: int) -> None:
        """Return when so many of them wait until they may send something."""
        while len(self.backend._client._unsent) < count:
            await asyncio.sleep(0.002)

    async def end(self) -> list[Any]:
        """Return what each has come to: a reply, or the exception."""
        results = await asyncio.gather(*self.tasks, return_exceptions=True)
        await self.backend.aclose()
        return [r[0] if isinstance(r, list) else r for r in results]


class Held:
    """An action that comes when the test says so."""

    def __init__(self, then: Action) -> None:
        self.over = threading.Event()
        self._then = then

    async def __call__(self, request: web.Request, call: Call) -> web.StreamResponse:
        while not self.over.is_set():
            await asyncio.sleep(0.002)
        return await self._then(request, call)


def are_cancelled(results: list[Any]) -> bool:
    return all(isinstance(result, asyncio.CancelledError) for result in results)


@pytest.mark.parametrize("action", [error(429, retry_after="60"), error(500)])
def test_no_retry_goes_out(api_server: OpenAIServer, action: Action) -> None:
    api_server.script = lambda call: action
    slow = RetryPolicy(base=60.0)

    async def main() -> list[Any]:
        session = Session(make(api_server, concurrency=2, retry=slow))
        session.start("asleep", "asleep too")
        await session.waiting(2)
        session.backend.send_no_more()
        session.start("later")
        return await session.end()

    assert are_cancelled(asyncio.run(asyncio.wait_for(main(), 30)))
    assert sorted(api_server.prompts) == ["asleep", "asleep too"]


@pytest.mark.parametrize("options", [{"concurrency": 1}, {"requests_per_minute": 1}])
def test_what_waits_for_its_turn_is_not_sent(
    api_server: OpenAIServer, options: dict[str, Any]
) -> None:
    held = Held(text("4"))
    api_server.script = lambda call: held

    async def main() -> list[Any]:
        session = Session(make(api_server, **options))
        session.start("sent", "waits", "waits too")
        while not api_server.calls:
            await asyncio.sleep(0.002)
        await session.waiting(2)
        session.backend.send_no_more()
        held.over.set()
        return await session.end()

    sent, *waiting = asyncio.run(asyncio.wait_for(main(), 30))
    assert isinstance(sent, ModelOutput)
    assert are_cancelled(waiting)
    assert api_server.prompts == ["sent"]


def test_what_fails_later_is_not_tried_again(api_server: OpenAIServer) -> None:
    held = Held(error(500))
    api_server.script = lambda call: held

    async def main() -> list[Any]:
        session = Session(make(api_server))
        session.start("fails")
        while not api_server.calls:
            await asyncio.sleep(0.002)
        session.backend.send_no_more()
        held.over.set()
        return await session.end()

    assert are_cancelled(asyncio.run(asyncio.wait_for(main(), 30)))
    assert api_server.prompts == ["fails"]


@pytest.mark.parametrize(
    ("action", "counts"),
    [(error(429), False), (error(503, retry_after="60"), False), (error(500), True)],
)
def test_the_time_for_which_a_server_is_busy_is_not_the_sample_s(
    api_server: OpenAIServer, action: Action, counts: bool
) -> None:
    api_server.script = lambda call: action
    deadline = Deadline(600.0)

    async def main() -> bool:
        DEADLINES.set((deadline,))
        slow = RetryPolicy(base=60.0, busy_base=60.0)
        session = Session(make(api_server, retry=slow))
        session.start("a")
        while not api_server.calls:
            await asyncio.sleep(0.002)
        await session.waiting(1)
        before = deadline.remaining
        await asyncio.sleep(0.005)
        after = deadline.remaining
        session.backend.send_no_more()
        await session.end()
        return after < before

    assert asyncio.run(asyncio.wait_for(main(), 30)) is counts


def test_a_request_under_another_name_counts_too(api_server: OpenAIServer) -> None:
    refusal = error(400, "Unsupported parameter, use max_completion_tokens")
    api_server.script = in_turn(refusal, text("4"))

    async def main() -> int:
        session = Session(make(api_server, requests_per_minute=6000))
        session.start("a")
        [result] = await session.end()
        assert isinstance(result, ModelOutput)
        rate = session.backend._client._rate
        assert rate is not None
        return sum(count for _, count in rate._state._memory["requests"]["slots"])

    assert asyncio.run(asyncio.wait_for(main(), 30)) == len(api_server.calls) == 2
