from __future__ import annotations

import asyncio
import inspect
from typing import Any

from pytest_evalplug.model.base import GenerationParams, ModelBackend
from pytest_evalplug.model.openai_api import OpenAIBackend
from pytest_evalplug.model.spec import resolve_model
from pytest_evalplug.types import ModelOutput, Prompt
from tests.model.asking import ask, make, output
from tests.servers import (
    Action,
    OpenAIServer,
    api_server,
    delay,
    error,
)

__all__ = ["api_server"]


def test_is_a_model_backend(api_server: OpenAIServer) -> None:
    backend = make(api_server)
    assert isinstance(backend, ModelBackend)
    assert (backend.name, backend.fingerprint, backend.batch_size) == ("fake", "f", 1)
    assert backend.capabilities == {"generate"}
    assert backend.concurrency == 32
    assert inspect.iscoroutinefunction(backend.generate)


def test_a_spec_creates_one(api_server: OpenAIServer) -> None:
    backend = resolve_model(f"openai:fake@{api_server.url}", {}).create()
    assert isinstance(backend, OpenAIBackend)
    assert output(backend).completion == "echo: 2+2="


def test_a_string_becomes_a_user_message(api_server: OpenAIServer) -> None:
    assert output(make(api_server)).completion == "echo: 2+2="
    [call] = api_server.calls
    assert call.path == "/v1/chat/completions"
    assert call.body == {
        "model": "fake",
        "messages": [{"role": "user", "content": "2+2="}],
        "max_tokens": 512,
        "temperature": 0.0,
    }


def test_messages_go_as_they_are(api_server: OpenAIServer) -> None:
    messages: Prompt = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "2+2="},
    ]
    output(make(api_server), messages)
    assert api_server.calls[0].body["messages"] == messages


def test_all_parameters_are_sent(api_server: OpenAIServer) -> None:
    params = GenerationParams(max_tokens=9, temperature=0.7, top_p=0.9, stop=("\n", "Q:"), seed=0)
    ask(make(api_server), "a", params=params)
    sent = api_server.calls[0].body
    assert {k: v for k, v in sent.items() if k not in ("model", "messages")} == {
        "max_tokens": 9,
        "temperature": 0.7,
        "top_p": 0.9,
        "stop": ["\n", "Q:"],
        "seed": 0,
    }


def test_extra_body_has_the_last_word(api_server: OpenAIServer) -> None:
    extra = {"temperature": 1, "chat_template_kwargs": {"enable_thinking": False}}
    output(make(api_server, extra_body=extra))
    assert extra.items() <= api_server.calls[0].body.items()


def test_completions_endpoint(api_server: OpenAIServer) -> None:
    backend = make(api_server, api="completions")
    messages: Prompt = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "2+2="}]},
    ]
    first, second = ask(backend, "2+2=", messages)
    assert isinstance(first, ModelOutput)
    assert isinstance(second, ModelOutput)
    assert first.completion == "echo: 2+2="
    assert second.completion == "echo: Be brief.\n\n2+2="
    assert {call.path for call in api_server.calls} == {"/v1/completions"}


def test_odd_text_survives_the_way(api_server: OpenAIServer) -> None:
    prompt = "{x} %s $ \u2028 \x00 \x1b[31m 中文 😀"
    assert output(make(api_server), prompt).completion == f"echo: {prompt}"


def test_a_lone_surrogate_is_sent_escaped(api_server: OpenAIServer) -> None:
    api_server.script = lambda call: "ok"
    assert output(make(api_server), "a\ud800b").completion == "ok"
    assert api_server.prompts == ["a\ud800b"]


def test_replies_keep_the_order_of_the_prompts(api_server: OpenAIServer) -> None:
    api_server.script = lambda call: delay(0.2 if call.prompt == "0" else 0, call.prompt)
    results = ask(make(api_server), *map(str, range(20)))
    assert [r.completion for r in results if isinstance(r, ModelOutput)] == [
        str(i) for i in range(20)
    ]


def test_at_most_concurrency_in_flight(api_server: OpenAIServer) -> None:
    api_server.script = lambda call: delay(0.02)
    ask(make(api_server, concurrency=4), *map(str, range(24)))
    assert api_server.max_in_flight == 4


def test_connections_are_shared_between_calls_too(api_server: OpenAIServer) -> None:
    api_server.script = lambda call: delay(0.02)
    backend = make(api_server, concurrency=3)

    async def main() -> None:
        calls = [backend.generate([str(i)], GenerationParams()) for i in range(12)]
        await asyncio.gather(*calls)
        await backend.aclose()

    asyncio.run(main())
    assert api_server.max_in_flight == 3


def test_models_that_want_max_completion_tokens_get_it(api_server: OpenAIServer) -> None:
    message = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."

    def script(call: Any) -> Action | str:
        refused = "max_tokens" in call.body
        return error(400, message, "unsupported_parameter") if refused else "ok"

    api_server.script = script
    backend = make(api_server)
    assert output(backend, "a").completion == "ok"
    assert output(backend, "b").completion == "ok"
    assert api_server.prompts == ["a", "a", "b"]
    assert api_server.calls[-1].body["max_completion_tokens"] == 512
