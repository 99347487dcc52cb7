from __future__ import annotations

import asyncio
import time
from email.utils import formatdate

import pytest

from pytest_evalplug.errors import ModelError
from pytest_evalplug.model.base import GenerationParams
from pytest_evalplug.model.openai_api import OpenAIBackend
from pytest_evalplug.model.spec import OpenAIOptions
from pytest_evalplug.types import ModelOutput
from tests.model.asking import ask, failure, make, output
from tests.servers import (
    Action,
    Call,
    OpenAIServer,
    api_server,
    bad_gateway,
    error,
    in_turn,
    stall,
)

__all__ = ["api_server"]


@pytest.mark.parametrize(
    ("status", "header"), [(429, {"retry_after": "0.3"}), (503, {"retry_after_ms": "300"})]
)
def test_retry_after_holds_all_requests(
    api_server: OpenAIServer, status: int, header: dict[str, str]
) -> None:
    arrived: list[tuple[float, str]] = []

    def script(call: Call) -> Action | str:
        arrived.append((time.monotonic(), call.prompt))
        return error(status, **header) if len(arrived) == 1 else "ok"

    api_server.script = script
    prompts = [str(n) for n in range(9)]
    results = ask(make(api_server, concurrency=1), *prompts)
    assert all(isinstance(result, ModelOutput) for result in results)
    (refused, first), (again, second), *_ = arrived
    assert (first, second, len(arrived)) == ("0", "0", 10)
    assert again - refused >= 0.3


def test_retry_after_may_be_a_date(api_server: OpenAIServer) -> None:
    resume = int(time.time()) + 1.0
    api_server.script = in_turn(error(429, retry_after=formatdate(resume, usegmt=True)), "4")
    assert output(make(api_server)).completion == "4"
    assert time.time() >= resume - 0.01  # the clock may be set right meanwhile


def test_given_up_after_max_retries(api_server: OpenAIServer) -> None:
    api_server.script = lambda call: "ok" if call.prompt == "good" else bad_gateway()
    bad, good = ask(make(api_server), "bad", "good")
    assert type(bad) is ModelError
    assert str(bad) == (
        f"model fake ({api_server.url}): 502 (an HTML page). The server's own log may say more"
    )
    assert isinstance(good, ModelOutput)
    assert api_server.prompts.count("bad") == 3


def test_a_long_retry_after_is_not_waited_for(api_server: OpenAIServer) -> None:
    api_server.script = lambda call: error(429, "daily quota", retry_after="3600")
    assert "429 daily quota (Retry-After: 3600 s)" in str(failure(make(api_server)))
    assert len(api_server.calls) == 1


def test_options_set_the_number_of_retries(api_server: OpenAIServer) -> None:
    api_server.script = lambda call: error(500)
    options = OpenAIOptions(model="fake", base_url=api_server.url, max_retries=0)
    assert isinstance(failure(OpenAIBackend("fake", options, fingerprint="f")), ModelError)
    assert len(api_server.calls) == 1


def test_cancelled_requests_end_at_once(api_server: OpenAIServer) -> None:
    api_server.script = lambda call: stall()
    backend = make(api_server)

    async def main() -> None:
        task = asyncio.ensure_future(backend.generate(["a", "b"], GenerationParams()))
        while len(api_server.calls) < 2:
            await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, 30)
        await backend.aclose()
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(main())


def test_a_rejected_sample_is_not_retried(api_server: OpenAIServer) -> None:
    api_server.script = lambda call: error(400, "content policy") if "bad" in call.prompt else "ok"
    backend = make(api_server, concurrency=1)
    good, *bad = ask(backend, "good", *(f"bad {i}" for i in range(20)))
    assert isinstance(good, ModelOutput)
    assert {type(error) for error in bad} == {ModelError}
    assert "400 content policy" in str(bad[0])
    assert len(api_server.calls) == 21
    assert api_server.model_lists == 0
