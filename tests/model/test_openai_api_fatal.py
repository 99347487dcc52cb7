from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace

import pytest

from pytest_evalplug.errors import FatalModelError, ModelError
from pytest_evalplug.model.base import GenerationParams
from pytest_evalplug.model.retry import RetryPolicy
from pytest_evalplug.types import ModelOutput
from tests.http_faults import outage
from tests.model.asking import FAST, KEY, ask, make, output
from tests.servers import (
    Action,
    Call,
    OpenAIServer,
    api_server,
    delay,
    error,
    free_port,
    payload,
    stall,
)

__all__ = ["api_server"]


@pytest.mark.parametrize("status", [401, 403])
def test_a_wrong_key(
    api_server: OpenAIServer, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    api_server.script = lambda call: error(status, f"Incorrect API key provided: {KEY}.")
    with pytest.raises(FatalModelError) as caught:
        ask(make(api_server), "a")
    assert str(caught.value) == (
        f"model fake ({api_server.url}): the key was refused: {status} Incorrect API key "
        "provided: ***. Check the key in OPENAI_API_KEY"
    )
    assert len(api_server.calls) == 1


def test_a_missing_key(api_server: OpenAIServer) -> None:
    api_server.script = lambda call: error(401, "who are you?")
    with pytest.raises(FatalModelError, match=r"the server wants a key: 401.*Set MY_KEY"):
        ask(make(api_server, api_key_env="MY_KEY"), "a")


def test_nothing_is_sent_any_more(api_server: OpenAIServer) -> None:
    api_server.script = lambda call: error(401)
    backend = make(api_server, concurrency=2)
    for _ in range(2):
        with pytest.raises(FatalModelError):
            ask(backend, *map(str, range(50)))
    assert len(api_server.calls) <= 2


def test_requests_in_flight_are_cancelled(api_server: OpenAIServer) -> None:
    api_server.script = lambda call: delay(0.05, error(401)) if call.prompt == "a" else stall(600.0)
    with pytest.raises(FatalModelError):
        ask(make(api_server, timeout=600.0), "a", "b", "c")


@pytest.mark.parametrize("fault", [error(402), error(429, "quota", "insufficient_quota")])
def test_no_credit(api_server: OpenAIServer, fault: Action) -> None:
    api_server.script = lambda call: fault
    with pytest.raises(FatalModelError, match="no credit left"):
        ask(make(api_server), "a")
    assert len(api_server.calls) == 1


@pytest.mark.parametrize(
    "fault",
    [error(404, "The model `fakr` does not exist"), error(400, "pinned to 'fake'")],
    ids=["404", "400"],
)
def test_an_unknown_model_lists_the_served_ones(api_server: OpenAIServer, fault: Action) -> None:
    api_server.models = ["other", "fake"]
    api_server.script = lambda call: fault
    with pytest.raises(FatalModelError) as caught:
        ask(make(api_server, model="fakr"), "a")
    assert "no model 'fakr' here" in str(caught.value)
    assert "Did you mean 'fake'? Known: fake, other" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_models_are_asked_for_once(api_server: OpenAIServer) -> None:
    api_server.models = [f"m{n}" for n in range(40)]
    api_server.script = lambda call: error(404, "no such model")
    backend = make(api_server, model="m7x")

    async def main() -> list[BaseException | list[ModelOutput | ModelError]]:
        asked = [backend.generate([str(n)], GenerationParams()) for n in range(20)]
        results = await asyncio.gather(*asked, return_exceptions=True)
        await backend.aclose()
        return results

    errors = {str(result) for result in asyncio.run(main())}
    assert len(errors) == 1
    assert "no model 'm7x' here: 404 no such model. Did you mean 'm7'? Known: m7, " in errors.pop()
    assert len(api_server.calls) <= 20
    assert api_server.model_lists == 1


def test_hundreds_of_models_are_not_all_named(api_server: OpenAIServer) -> None:
    api_server.models = [f"m{n}" for n in range(400)]
    api_server.script = lambda call: error(404)
    with pytest.raises(FatalModelError, match=r"Known: m7, .* and 388 more$"):
        ask(make(api_server, model="m7x"), "a")


def test_an_unknown_model_in_the_middle_is_waited_for(api_server: OpenAIServer) -> None:
    api_server.script = lambda call: error(404) if call.prompt == "b" and not call.attempt else "4"
    results = ask(make(api_server, concurrency=1), *"abc")
    assert all(isinstance(result, ModelOutput) for result in results)
    assert api_server.prompts == ["a", "b", "b", "c"]


def test_a_key_that_is_no_longer_good_ends_it_too(api_server: OpenAIServer) -> None:
    api_server.script = lambda call: "4" if call.prompt == "0" else error(403, "expired")
    with pytest.raises(FatalModelError, match=r"last 8 samples, the latest: 403 expired"):
        ask(make(api_server, concurrency=1), *map(str, range(20)))
    assert len(api_server.calls) == 9


def test_who_waits_is_woken_by_the_end(api_server: OpenAIServer) -> None:
    def script(call: Call) -> Action | str:
        return error(401) if call.prompt == "b" else error(503, retry_after="200")

    api_server.script = script
    backend = make(api_server, concurrency=2)

    async def main() -> None:
        first = asyncio.ensure_future(backend.generate(["a"], GenerationParams()))
        second = asyncio.ensure_future(backend.generate(["b"], GenerationParams()))
        with pytest.raises(FatalModelError):
            await second
        with pytest.raises(FatalModelError):
            await asyncio.wait_for(first, 60)
        await backend.aclose()

    asyncio.run(main())


def test_a_server_that_is_back_in_time_is_gone_on_with(api_server: OpenAIServer) -> None:
    act = outage(api_server, 0.2)
    api_server.script = lambda call: act if call.prompt == "9" and not call.attempt else "4"
    patient = RetryPolicy(max_retries=8, base=0.01)
    results = ask(make(api_server, concurrency=3, retry=patient), *map(str, range(30)))
    assert all(isinstance(result, ModelOutput) for result in results)
    asked = Counter(api_server.prompts)
    assert set(asked) == set(map(str, range(30)))
    assert sum(asked.values()) <= 30 + 2 * 3


def test_a_wrong_path(api_server: OpenAIServer) -> None:
    with pytest.raises(FatalModelError, match=r"no such model or path: 404.*ends in /v1"):
        ask(make(api_server.url.removesuffix("/v1")), "a")


def test_a_redirect(api_server: OpenAIServer) -> None:
    api_server.script = lambda call: payload({}, 307, location="https://elsewhere/v1")
    with pytest.raises(FatalModelError, match=r"redirects: 307.*base_url"):
        ask(make(api_server), "a")


def test_nobody_listens() -> None:
    url = f"http://127.0.0.1:{free_port()}/v1"
    with pytest.raises(FatalModelError) as caught:
        ask(make(url), "a")
    assert str(caught.value) == (
        f"model fake ({url}): cannot connect: Connection refused. "
        "Start the server, or correct base_url / OPENAI_BASE_URL"
    )


def test_no_such_host() -> None:
    with pytest.raises(FatalModelError, match="cannot connect"):
        ask(make("http://no-such-host.invalid/v1"), "a")


def test_a_server_that_dies_is_waited_for_a_while() -> None:
    with OpenAIServer() as server:
        backend = make(server)
        output(backend)
    with pytest.raises(FatalModelError, match="cannot connect"):
        ask(backend, "b")


def test_a_server_that_is_plainly_broken(api_server: OpenAIServer) -> None:
    api_server.script = lambda call: error(500, "out of memory")
    backend = make(api_server, concurrency=4)
    with pytest.raises(FatalModelError, match=r"no usable reply to the last 8 samples.*memory"):
        ask(backend, *map(str, range(100)))
    assert len(api_server.calls) <= 12 * 3


def test_a_parameter_that_is_always_rejected(api_server: OpenAIServer) -> None:
    api_server.script = lambda call: error(400, "temperature must be 1")
    with pytest.raises(FatalModelError, match=r"last 8 samples.*Check the generation param"):
        ask(make(api_server, concurrency=4), *map(str, range(100)))
    assert len(api_server.calls) < 20


def test_one_reply_in_between_keeps_it_going(api_server: OpenAIServer) -> None:
    api_server.script = lambda call: "ok" if int(call.prompt) % 5 == 0 else error(500)
    once = replace(FAST, max_retries=0)
    results = ask(make(api_server, concurrency=1, retry=once), *map(str, range(30)))
    assert sum(isinstance(r, ModelOutput) for r in results) == 6
    assert sum(isinstance(r, ModelError) for r in results) == 24
