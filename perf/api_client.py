"""What a request costs a client: our backend, bare aiohttp, the openai SDK.

    python perf/api_client.py [requests] [in flight] [milliseconds a reply takes]

A server in a process of its own answers each request with the same reply. Rates are those of the
median of five rounds, taken in turn; CPU is the client process alone, and the steadier figure on a
machine that does other things too.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from statistics import median
from typing import Any, TypeAlias

import aiohttp
from aiohttp import web

from pytest_evalplug.model.base import GenerationParams
from pytest_evalplug.model.openai_api import OpenAIBackend
from pytest_evalplug.model.spec import OpenAIOptions
from pytest_evalplug.types import ModelOutput

PROMPT = "Natalia sold clips to 48 of her friends in April, and then half as many in May. " * 12
REPLY = json.dumps(
    {
        "id": "x",
        "object": "chat.completion",
        "created": 0,
        "model": "fake",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": "She sold 72 clips. #### 72 " * 8},
            }
        ],
        "usage": {"prompt_tokens": 240, "completion_tokens": 90, "total_tokens": 330},
    }
).encode()
BODY: dict[str, Any] = {
    "model": "fake",
    "messages": [{"role": "user", "content": PROMPT}],
    "max_tokens": 512,
    "temperature": 0.0,
}
Ask: TypeAlias = Callable[[], Awaitable[object]]


def serve(milliseconds: float) -> None:
    async def complete(request: web.Request) -> web.Response:
        await request.read()
        if milliseconds:
            await asyncio.sleep(milliseconds / 1000)
        return web.Response(body=REPLY, content_type="application/json")

    async def main() -> None:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", complete)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        print(runner.addresses[0][1], flush=True)
        await asyncio.Event().wait()

    asyncio.run(main())


async def drive(ask: Ask, requests: int, in_flight: int) -> tuple[float, float]:
    """Return (wall, CPU) seconds a request, with ``in_flight`` askers at work."""
    left = iter(range(requests))

    async def asker() -> None:
        for _ in left:
            await ask()

    wall, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(asker() for _ in range(in_flight)))
    return (time.perf_counter() - wall) / requests, (time.process_time() - cpu) / requests


async def compare(url: str, requests: int, in_flight: int) -> None:
    from openai import AsyncOpenAI

    options = OpenAIOptions(model="fake", base_url=url, concurrency=in_flight)
    backend = OpenAIBackend("fake", options, fingerprint="")
    params = GenerationParams()
    session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=in_flight))
    sdk = AsyncOpenAI(base_url=url, api_key="none", max_retries=0)

    async def ours() -> None:
        [output] = await backend.generate([PROMPT], params)
        assert isinstance(output, ModelOutput)

    async def bare() -> None:
        async with session.post(f"{url}/chat/completions", json=BODY) as response:
            assert (await response.json())["choices"]

    async def openai_sdk() -> None:
        assert (await sdk.chat.completions.create(**BODY)).choices

    clients: dict[str, Ask] = {"ours": ours, "bare aiohttp": bare, "openai SDK": openai_sdk}
    rounds: dict[str, list[tuple[float, float]]] = {name: [] for name in clients}
    for ask in clients.values():
        await drive(ask, in_flight, in_flight)  # open the connections
    for _ in range(5):
        for name, ask in clients.items():
            rounds[name].append(await drive(ask, requests, in_flight))
    await backend.aclose()
    await session.close()
    await sdk.close()
    report({name: tuple(map(median, zip(*taken))) for name, taken in rounds.items()})  # noqa: B905


def report(figures: dict[str, tuple[float, ...]]) -> None:
    wall_ours, cpu_ours = figures["ours"]
    columns = ("requests/s", "CPU us/request", "rate / ours", "CPU / ours")
    print(f"{'client':<12}" + "".join(f"{column:>16}" for column in columns))
    for name, (wall, cpu) in figures.items():
        row = (
            f"{1 / wall:.0f}",
            f"{cpu * 1e6:.0f}",
            f"{wall_ours / wall:.2f}",
            f"{cpu / cpu_ours:.2f}",
        )
        print(f"{name:<12}" + "".join(f"{value:>16}" for value in row))


def main() -> None:
    if sys.argv[1:2] == ["--serve"]:
        return serve(float(sys.argv[2]))
    requests, in_flight, milliseconds = [*sys.argv[1:], *("2000", "64", "0")[len(sys.argv) - 1 :]]
    command = [sys.executable, __file__, "--serve", milliseconds]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            url = f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
            asyncio.run(compare(url, int(requests), int(in_flight)))
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
