from __future__ import annotations

import asyncio
import subprocess
import sys
import threading

from pytest_evalplug.model.base import GenerationParams
from tests.model.asking import make
from tests.servers import (
    OpenAIServer,
    api_server,
)

__all__ = ["api_server"]


def run(code: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_from_another_thread(api_server: OpenAIServer) -> None:
    backend = make(api_server)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    future = asyncio.run_coroutine_threadsafe(backend.generate(["a"], GenerationParams()), loop)
    assert future.result(5)
    backend.close()
    backend.close()
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def test_with_a_loop_at_rest(api_server: OpenAIServer) -> None:
    backend = make(api_server)
    loop = asyncio.new_event_loop()
    loop.run_until_complete(backend.generate(["a"], GenerationParams()))
    backend.close()
    loop.close()


def test_inside_the_loop(api_server: OpenAIServer) -> None:
    backend = make(api_server)

    async def main() -> None:
        await backend.generate(["a"], GenerationParams())
        backend.close()
        await asyncio.sleep(0.05)

    asyncio.run(main())


def test_in_a_process_of_its_own(api_server: OpenAIServer) -> None:
    """The loops are gone: their sockets can't be closed without a ResourceWarning, silent here."""
    done = run(f"""
import asyncio, sys
from pytest_evalplug.model.base import GenerationParams
from pytest_evalplug.model.spec import resolve_model
print("aiohttp" in sys.modules)
backend = resolve_model("openai:fake@{api_server.url}", {{}}).create()
for prompt in "abc":
    print(asyncio.run(backend.generate([prompt], GenerationParams()))[0].completion)
print(len(backend._client._transport._sessions))
backend.close()
print("openai" in sys.modules)
""")
    assert (done.stdout.split("\n")[:-1], done.stderr) == (
        ["False", "echo: a", "echo: b", "echo: c", "1", "False"],
        "",
    )
