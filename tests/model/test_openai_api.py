from __future__ import annotations

import asyncio
import inspect
import logging
import subprocess
import sys
import threading
import time
from typing import Any

import pytest

from pytest_evalplug.errors import ConfigError, FatalModelError, ModelError, TooLongError
from pytest_evalplug.model.base import GenerationParams, ModelBackend
from pytest_evalplug.model.openai_api import OpenAIBackend
from pytest_evalplug.model.retry import RetryPolicy
from pytest_evalplug.model.spec import OpenAIOptions, resolve_model
from pytest_evalplug.types import ModelOutput, Prompt
from tests.servers import (
    Action,
    OpenAIServer,
    RealServer,
    api_server,
    bad_gateway,
    cut_short,
    delay,
    error,
    free_port,
    in_turn,
    payload,
    raw,
    real_server,
    reset,
    stall,
    text,
)

__all__ = ["api_server", "real_server"]

KEY = "sk-test-0123456789abcdef"
FAST = RetryPolicy(max_retries=3, base=0.01, busy_base=0.01, quick=0.01)


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def make(server: OpenAIServer | str, *, retry: RetryPolicy = FAST, **options: Any) -> OpenAIBackend:
    url = server if isinstance(server, str) else server.url
    settings = {"model": "fake", "base_url": url, "timeout": 5.0, **options}
    return OpenAIBackend("fake", OpenAIOptions(**settings), fingerprint="f", retry=retry)


def ask(
    backend: OpenAIBackend, *prompts: Prompt, params: GenerationParams | None = None
) -> list[ModelOutput | ModelError]:
    async def main() -> list[ModelOutput | ModelError]:
        try:
            return await backend.generate(prompts, params or GenerationParams())
        finally:
            await backend.aclose()

    return asyncio.run(main())


def output(backend: OpenAIBackend, prompt: Prompt = "2+2=") -> ModelOutput:
    [result] = ask(backend, prompt)
    assert isinstance(result, ModelOutput), result
    return result


def run(code: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def failure(backend: OpenAIBackend, prompt: Prompt = "2+2=") -> ModelError:
    [result] = ask(backend, prompt)
    assert isinstance(result, ModelError), result
    return result


class TestRequest:
    def test_is_a_model_backend(self, api_server: OpenAIServer) -> None:
        backend = make(api_server)
        assert isinstance(backend, ModelBackend)
        assert (backend.name, backend.fingerprint, backend.batch_size) == ("fake", "f", 1)
        assert backend.capabilities == {"generate"}
        assert backend.concurrency == 32
        assert inspect.iscoroutinefunction(backend.generate)

    def test_a_spec_creates_one(self, api_server: OpenAIServer) -> None:
        backend = resolve_model(f"openai:fake@{api_server.url}", {}).create()
        assert isinstance(backend, OpenAIBackend)
        assert output(backend).completion == "echo: 2+2="

    def test_a_string_becomes_a_user_message(self, api_server: OpenAIServer) -> None:
        assert output(make(api_server)).completion == "echo: 2+2="
        [call] = api_server.calls
        assert call.path == "/v1/chat/completions"
        assert call.body == {
            "model": "fake",
            "messages": [{"role": "user", "content": "2+2="}],
            "max_tokens": 512,
            "temperature": 0.0,
        }

    def test_messages_go_as_they_are(self, api_server: OpenAIServer) -> None:
        messages: Prompt = [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "2+2="},
        ]
        output(make(api_server), messages)
        assert api_server.calls[0].body["messages"] == messages

    def test_all_parameters_are_sent(self, api_server: OpenAIServer) -> None:
        params = GenerationParams(
            max_tokens=9, temperature=0.7, top_p=0.9, stop=("\n", "Q:"), seed=0
        )
        ask(make(api_server), "a", params=params)
        sent = api_server.calls[0].body
        assert {k: v for k, v in sent.items() if k not in ("model", "messages")} == {
            "max_tokens": 9,
            "temperature": 0.7,
            "top_p": 0.9,
            "stop": ["\n", "Q:"],
            "seed": 0,
        }

    def test_extra_body_has_the_last_word(self, api_server: OpenAIServer) -> None:
        extra = {"temperature": 1, "chat_template_kwargs": {"enable_thinking": False}}
        output(make(api_server, extra_body=extra))
        assert extra.items() <= api_server.calls[0].body.items()

    def test_completions_endpoint(self, api_server: OpenAIServer) -> None:
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

    def test_odd_text_survives_the_way(self, api_server: OpenAIServer) -> None:
        prompt = "{x} %s $ \u2028 \x00 \x1b[31m 中文 😀"
        assert output(make(api_server), prompt).completion == f"echo: {prompt}"

    def test_a_lone_surrogate_is_sent_escaped(self, api_server: OpenAIServer) -> None:
        api_server.script = lambda call: "ok"
        assert output(make(api_server), "a\ud800b").completion == "ok"
        assert api_server.prompts == ["a\ud800b"]

    def test_replies_keep_the_order_of_the_prompts(self, api_server: OpenAIServer) -> None:
        api_server.script = lambda call: delay(0.2 if call.prompt == "0" else 0, call.prompt)
        results = ask(make(api_server), *map(str, range(20)))
        assert [r.completion for r in results if isinstance(r, ModelOutput)] == [
            str(i) for i in range(20)
        ]

    def test_at_most_concurrency_in_flight(self, api_server: OpenAIServer) -> None:
        api_server.script = lambda call: delay(0.02)
        ask(make(api_server, concurrency=4), *map(str, range(24)))
        assert api_server.max_in_flight == 4

    def test_connections_are_shared_between_calls_too(self, api_server: OpenAIServer) -> None:
        api_server.script = lambda call: delay(0.02)
        backend = make(api_server, concurrency=3)

        async def main() -> None:
            calls = [backend.generate([str(i)], GenerationParams()) for i in range(12)]
            await asyncio.gather(*calls)
            await backend.aclose()

        asyncio.run(main())
        assert api_server.max_in_flight == 3

    def test_models_that_want_max_completion_tokens_get_it(self, api_server: OpenAIServer) -> None:
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


class TestConfiguration:
    def test_environment_is_the_default(
        self, api_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("OPENAI_BASE_URL", api_server.url + "/")
        monkeypatch.setenv("OPENAI_API_KEY", f"{KEY}\n")
        options = OpenAIOptions(model="fake")
        output(OpenAIBackend("fake", options, fingerprint="f"))
        assert api_server.calls[0].headers["authorization"] == f"Bearer {KEY}"

    def test_the_table_goes_before_the_environment(
        self, api_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{free_port()}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "other")
        monkeypatch.setenv("MY_KEY", KEY)
        output(make(api_server, api_key_env="MY_KEY", headers={"X-Team": "eval"}))
        headers = api_server.calls[0].headers
        assert headers["authorization"] == f"Bearer {KEY}"
        assert headers["x-team"] == "eval"

    def test_a_server_may_do_without_a_key(self, api_server: OpenAIServer) -> None:
        output(make(api_server))
        assert "authorization" not in api_server.calls[0].headers

    def test_headers_may_authenticate_in_their_own_way(
        self, api_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        output(make(api_server, headers={"api-key": "azure"}))
        assert "authorization" not in api_server.calls[0].headers
        assert api_server.calls[0].headers["api-key"] == "azure"

    def test_user_and_query_of_the_url_are_used_but_not_shown(
        self, api_server: OpenAIServer
    ) -> None:
        api_server.script = lambda call: error(418, "teapot")
        url = api_server.url.replace("//", "//me:geheim@") + "?api-version=7&sig=geheim"
        backend = make(url)
        shown = f"{failure(backend)} {backend!r}"
        assert api_server.calls[0].headers["authorization"].startswith("Basic ")
        assert api_server.calls[0].query == "api-version=7&sig=geheim"
        assert "geheim" not in shown
        assert api_server.url in shown

    def test_openai_itself_needs_a_key(self) -> None:
        with pytest.raises(ConfigError) as caught:
            OpenAIBackend("gpt", OpenAIOptions(model="gpt"), fingerprint="f")
        assert str(caught.value) == (
            "model gpt (https://api.openai.com/v1): no API key: OPENAI_API_KEY is not set. "
            "Set OPENAI_API_KEY, or base_url for a server of your own"
        )

    @pytest.mark.parametrize("url", ["localhost:8000/v1", "ftp://x/v1", "http://", "http://x:y"])
    def test_a_url_that_is_none(self, url: str) -> None:
        with pytest.raises(ConfigError, match=r"is not a base URL.*http://host:port/v1"):
            make(url)

    def test_a_server_here_is_reached_without_the_proxy(
        self, api_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{free_port()}")
        assert output(make(api_server)).completion == "echo: 2+2="

    def test_openai_is_not_imported(self, api_server: OpenAIServer) -> None:
        done = run(f"""
import asyncio, sys
from pytest_evalplug.model.base import GenerationParams
from pytest_evalplug.model.spec import resolve_model
assert "aiohttp" not in sys.modules
backend = resolve_model("openai:fake@{api_server.url}", {{}}).create()
async def main():
    print((await backend.generate(["hi"], GenerationParams()))[0].completion)
    await backend.aclose()
asyncio.run(main())
print("openai" in sys.modules)
""")
        assert (done.stdout.split("\n")[:2], done.stderr) == (["echo: hi", "False"], "")


class TestReply:
    def test_usage_and_finish_reason_are_kept(self, api_server: OpenAIServer) -> None:
        api_server.script = lambda call: text("cut", finish_reason="length")
        result = output(make(api_server))
        assert result.finish_reason == "length"
        assert result.usage == {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}
        assert result.message == {"role": "assistant", "content": "cut"}

    def test_null_content(self, api_server: OpenAIServer) -> None:
        api_server.script = lambda call: text(None, reasoning_content="hm", finish_reason="length")
        result = output(make(api_server))
        assert (result.completion, result.reasoning) == ("", "hm")
        assert result.message == {"role": "assistant", "content": None}

    def test_a_refusal_is_kept_beside_an_empty_completion(self, api_server: OpenAIServer) -> None:
        api_server.script = lambda call: text(None, refusal="I can't")
        result = output(make(api_server))
        assert (result.completion, result.extra) == ("", {"refusal": "I can't"})

    def test_null_text(self, api_server: OpenAIServer) -> None:
        api_server.script = lambda call: text(None)
        assert output(make(api_server, api="completions")).completion == ""


class TestRetries:
    @pytest.mark.parametrize(
        "fault",
        [
            error(429),
            error(500),
            error(503, "overloaded"),
            bad_gateway(),
            reset(),
            cut_short(),
            raw(b'{"choices": [{"mess'),
            raw(b""),
            payload({"choices": []}),
            payload({"object": "nothing of the kind"}),
            payload([]),
            payload({"error": {"code": 502, "message": "upstream"}}),
            payload({"choices": [{"message": "no object"}]}),
        ],
        ids=[
            *("429", "500", "503", "html", "reset", "cut-short", "truncated", "empty"),
            *("no-choices", "other-schema", "list", "error-in-200", "bad-message"),
        ],
    )
    def test_a_passing_fault_is_retried(self, api_server: OpenAIServer, fault: Action) -> None:
        api_server.script = in_turn(fault, fault, "4")
        assert output(make(api_server)).completion == "4"
        assert len(api_server.calls) == 3

    def test_a_stalled_body_times_out(self, api_server: OpenAIServer) -> None:
        api_server.script = in_turn(stall(), "4")
        started = time.monotonic()
        assert output(make(api_server, timeout=0.3)).completion == "4"
        assert 0.3 <= time.monotonic() - started < 3

    def test_retry_after_is_honoured(self, api_server: OpenAIServer) -> None:
        api_server.script = in_turn(error(429, retry_after="1"), "4")
        started = time.monotonic()
        assert output(make(api_server)).completion == "4"
        assert 1.0 <= time.monotonic() - started < 2.5

    def test_a_busy_server_holds_the_others_too(self, api_server: OpenAIServer) -> None:
        times: dict[str, float] = {}

        def script(call: Any) -> Action | str:
            if call.prompt == "first" and call.attempt == 0:
                return error(429, retry_after="0.5")
            times[call.prompt] = time.monotonic()
            return "ok"

        api_server.script = script
        backend = make(api_server)

        async def main() -> float:
            started = time.monotonic()
            first = asyncio.ensure_future(backend.generate(["first"], GenerationParams()))
            await asyncio.sleep(0.2)
            await asyncio.gather(first, backend.generate(["second"], GenerationParams()))
            await backend.aclose()
            return started

        started = asyncio.run(main())
        assert times["second"] - started >= 0.5

    def test_given_up_after_max_retries(self, api_server: OpenAIServer) -> None:
        api_server.script = lambda call: "ok" if call.prompt == "good" else bad_gateway()
        bad, good = ask(make(api_server), "bad", "good")
        assert type(bad) is ModelError
        assert str(bad) == (
            f"model fake ({api_server.url}): 502 (an HTML page). The server's own log may say more"
        )
        assert isinstance(good, ModelOutput)
        assert api_server.prompts.count("bad") == 4

    def test_a_timeout_is_tried_twice_again(self, api_server: OpenAIServer) -> None:
        api_server.script = lambda call: stall()
        assert "no answer within 0.2 s" in str(failure(make(api_server, timeout=0.2)))
        assert len(api_server.calls) == 3

    def test_a_long_retry_after_is_not_waited_for(self, api_server: OpenAIServer) -> None:
        api_server.script = lambda call: error(429, "daily quota", retry_after="3600")
        started = time.monotonic()
        assert "429 daily quota (Retry-After: 3600 s)" in str(failure(make(api_server)))
        assert time.monotonic() - started < 2
        assert len(api_server.calls) == 1

    def test_options_set_the_number_of_retries(self, api_server: OpenAIServer) -> None:
        api_server.script = lambda call: error(500)
        options = OpenAIOptions(model="fake", base_url=api_server.url, max_retries=0)
        assert isinstance(failure(OpenAIBackend("fake", options, fingerprint="f")), ModelError)
        assert len(api_server.calls) == 1

    def test_cancelled_requests_end_at_once(self, api_server: OpenAIServer) -> None:
        api_server.script = lambda call: stall()
        backend = make(api_server)

        async def main() -> None:
            task = asyncio.ensure_future(backend.generate(["a", "b"], GenerationParams()))
            await asyncio.sleep(0.2)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asyncio.wait_for(task, 1)
            await backend.aclose()
            assert len(asyncio.all_tasks()) == 1

        asyncio.run(main())


class TestSampleErrors:
    @pytest.mark.parametrize(
        "fault",
        [
            error(400, "maximum context length is 2048 tokens", "context_length_exceeded"),
            error(400, "This model's maximum context length is 2048 tokens. Please reduce"),
            error(400, "the request exceeds the available context size"),
            error(413, "Payload Too Large"),
            payload({"detail": "prompt is too long"}, 422),
        ],
        ids=["openai", "vllm", "llama.cpp", "413", "422"],
    )
    def test_too_long(self, api_server: OpenAIServer, fault: Action) -> None:
        api_server.script = lambda call: fault if call.prompt == "long" else "ok"
        long, short = ask(make(api_server), "long", "short")
        assert type(long) is TooLongError
        assert isinstance(short, ModelOutput)
        assert api_server.prompts.count("long") == 1

    def test_a_rejected_sample_is_not_retried(self, api_server: OpenAIServer) -> None:
        api_server.script = lambda call: (
            error(400, "content policy") if "bad" in call.prompt else "ok"
        )
        backend = make(api_server, concurrency=1)
        good, *bad = ask(backend, "good", *(f"bad {i}" for i in range(20)))
        assert isinstance(good, ModelOutput)
        assert {type(error) for error in bad} == {ModelError}
        assert "400 content policy" in str(bad[0])
        assert len(api_server.calls) == 21
        assert api_server.model_lists == 0


class TestFatal:
    @pytest.mark.parametrize("status", [401, 403])
    def test_a_wrong_key(
        self, api_server: OpenAIServer, status: int, monkeypatch: pytest.MonkeyPatch
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

    def test_a_missing_key(self, api_server: OpenAIServer) -> None:
        api_server.script = lambda call: error(401, "who are you?")
        with pytest.raises(FatalModelError, match=r"the server wants a key: 401.*Set MY_KEY"):
            ask(make(api_server, api_key_env="MY_KEY"), "a")

    def test_nothing_is_sent_any_more(self, api_server: OpenAIServer) -> None:
        api_server.script = lambda call: error(401)
        backend = make(api_server, concurrency=2)
        for _ in range(2):
            with pytest.raises(FatalModelError):
                ask(backend, *map(str, range(50)))
        assert len(api_server.calls) <= 2

    def test_requests_in_flight_are_cancelled(self, api_server: OpenAIServer) -> None:
        api_server.script = lambda call: delay(0.1, error(401)) if call.prompt == "a" else stall()
        started = time.monotonic()
        with pytest.raises(FatalModelError):
            ask(make(api_server), "a", "b", "c")
        assert time.monotonic() - started < 2

    @pytest.mark.parametrize("fault", [error(402), error(429, "quota", "insufficient_quota")])
    def test_no_credit(self, api_server: OpenAIServer, fault: Action) -> None:
        api_server.script = lambda call: fault
        with pytest.raises(FatalModelError, match="no credit left"):
            ask(make(api_server), "a")
        assert len(api_server.calls) == 1

    @pytest.mark.parametrize(
        "fault",
        [error(404, "The model `fakr` does not exist"), error(400, "pinned to 'fake'")],
        ids=["404", "400"],
    )
    def test_an_unknown_model_lists_the_served_ones(
        self, api_server: OpenAIServer, fault: Action
    ) -> None:
        api_server.models = ["other", "fake"]
        api_server.script = lambda call: fault
        with pytest.raises(FatalModelError) as caught:
            ask(make(api_server, model="fakr"), "a")
        assert "no model 'fakr' here" in str(caught.value)
        assert "Did you mean 'fake'? Known: fake, other" in str(caught.value)
        assert "\n" not in str(caught.value)

    def test_a_wrong_path(self, api_server: OpenAIServer) -> None:
        with pytest.raises(FatalModelError, match=r"no such model or path: 404.*ends in /v1"):
            ask(make(api_server.url.removesuffix("/v1")), "a")

    def test_a_redirect(self, api_server: OpenAIServer) -> None:
        api_server.script = lambda call: payload({}, 307, location="https://elsewhere/v1")
        with pytest.raises(FatalModelError, match=r"redirects: 307.*base_url"):
            ask(make(api_server), "a")

    def test_nobody_listens(self) -> None:
        url = f"http://127.0.0.1:{free_port()}/v1"
        started = time.monotonic()
        with pytest.raises(FatalModelError) as caught:
            ask(make(url, retry=RetryPolicy()), "a")
        assert str(caught.value) == (
            f"model fake ({url}): cannot connect: Connection refused. "
            "Start the server, or correct base_url / OPENAI_BASE_URL"
        )
        assert 0.3 < time.monotonic() - started < 3

    def test_no_such_host(self) -> None:
        with pytest.raises(FatalModelError, match="cannot connect"):
            ask(make("http://no-such-host.invalid/v1"), "a")

    def test_a_server_that_dies_is_waited_for_a_while(self) -> None:
        with OpenAIServer() as server:
            backend = make(server)
            output(backend)
        with pytest.raises(FatalModelError, match="cannot connect"):
            ask(backend, "b")

    def test_a_server_that_is_plainly_broken(self, api_server: OpenAIServer) -> None:
        api_server.script = lambda call: error(500, "out of memory")
        backend = make(api_server, concurrency=4)
        with pytest.raises(FatalModelError, match=r"no usable reply to the last 8 samples.*memory"):
            ask(backend, *map(str, range(100)))
        assert len(api_server.calls) <= 12 * 4

    def test_a_parameter_that_is_always_rejected(self, api_server: OpenAIServer) -> None:
        api_server.script = lambda call: error(400, "temperature must be 1")
        with pytest.raises(FatalModelError, match=r"last 8 samples.*Check the generation param"):
            ask(make(api_server, concurrency=4), *map(str, range(100)))
        assert len(api_server.calls) < 20

    def test_one_reply_in_between_keeps_it_going(self, api_server: OpenAIServer) -> None:
        api_server.script = lambda call: "ok" if int(call.prompt) % 5 == 0 else error(500)
        results = ask(make(api_server, concurrency=1), *map(str, range(30)))
        assert sum(isinstance(r, ModelOutput) for r in results) == 6
        assert sum(isinstance(r, ModelError) for r in results) == 24


class TestSecrets:
    def test_keys_are_never_shown(
        self,
        api_server: OpenAIServer,
        monkeypatch: pytest.MonkeyPatch,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        header = "geheim-0123456789"
        faults = [
            error(401, f"Bearer {KEY}"),
            error(500, f"header {header} and {KEY}"),
            error(400, "your key sk-proj-abcdef*****wxyz"),
            raw(f"<pre>{KEY}</pre>".encode(), 500, "text/html"),
        ]
        with caplog.at_level(logging.DEBUG):
            for fault in faults:
                api_server.script = lambda call, fault=fault: fault  # type: ignore[misc]
                backend = make(api_server, headers={"X-Secret": header})
                try:
                    shown = repr(ask(backend, "a"))
                except FatalModelError as caught:
                    shown = f"{caught} {caught!r}"
                for text_ in (shown, repr(backend), repr(backend._options), caplog.text):
                    assert KEY not in text_
                    assert header not in text_
                    assert "wxyz" not in text_


class TestClose:
    def test_from_another_thread(self, api_server: OpenAIServer) -> None:
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

    def test_with_a_loop_at_rest(self, api_server: OpenAIServer) -> None:
        backend = make(api_server)
        loop = asyncio.new_event_loop()
        loop.run_until_complete(backend.generate(["a"], GenerationParams()))
        backend.close()
        loop.close()

    def test_inside_the_loop(self, api_server: OpenAIServer) -> None:
        backend = make(api_server)

        async def main() -> None:
            await backend.generate(["a"], GenerationParams())
            backend.close()
            await asyncio.sleep(0.05)

        asyncio.run(main())

    def test_with_loops_that_are_gone(self, api_server: OpenAIServer) -> None:
        # In a process of its own: the sockets of a closed loop can't be closed without a
        # ResourceWarning, which is silent by default.
        done = run(f"""
import asyncio
from pytest_evalplug.model.base import GenerationParams
from pytest_evalplug.model.spec import resolve_model
backend = resolve_model("openai:fake@{api_server.url}", {{}}).create()
for prompt in "abc":
    print(asyncio.run(backend.generate([prompt], GenerationParams()))[0].completion)
print(len(backend._client._transport._sessions))
backend.close()
""")
        assert (done.stdout.split("\n")[:-1], done.stderr) == (
            ["echo: a", "echo: b", "echo: c", "1"],
            "",
        )


@pytest.mark.real_model
def test_a_real_server(real_server: RealServer) -> None:
    """One test: each process that ran a part of it would start a server of its own."""
    for api, question in (
        ("chat", "What is the capital of {}?"),
        ("completions", "The capital of {} is"),
    ):
        generates(real_server, api, question)
    stop_and_max_tokens_are_obeyed(real_server)
    with pytest.raises(FatalModelError, match="no model 'nosuch' here"):
        ask(make(real_server.base_url, model="nosuch", timeout=60.0), "hi")


def generates(server: RealServer, api: str, question: str) -> None:
    backend = make(server.base_url, model=server.model, api=api, timeout=60.0)
    prompts = [question.format("France"), question.format("Germany")]
    results = ask(backend, *prompts, params=GenerationParams(max_tokens=12))
    texts = [r.completion for r in results if isinstance(r, ModelOutput)]
    assert ["Paris" in texts[0], "Berlin" in texts[1]] == [True, True], results
    for result in results:
        assert isinstance(result, ModelOutput)
        assert result.finish_reason in ("stop", "length")
        assert result.usage is not None
        assert 0 < result.usage["completion_tokens"] <= 12


def stop_and_max_tokens_are_obeyed(server: RealServer) -> None:
    backend = make(server.base_url, model=server.model, timeout=60.0)
    prompt = "Count from 1 to 20, separated by commas."
    [cut] = ask(backend, prompt, params=GenerationParams(max_tokens=5))
    [stopped] = ask(backend, prompt, params=GenerationParams(max_tokens=60, stop=("4",)))
    assert isinstance(cut, ModelOutput)
    assert isinstance(stopped, ModelOutput)
    assert cut.finish_reason == "length"
    assert "5" not in stopped.completion
