"""Likelihood mode through an API: what servers send, what is made of it, which are refused."""

from __future__ import annotations

import asyncio
import itertools
import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pytest_evalplug.errors import FatalModelError, ModelError, TooLongError
from pytest_evalplug.model.api_likelihood import Echo, read_echo, split_at
from pytest_evalplug.model.api_trial import TRIAL_TEXT
from pytest_evalplug.model.base import Choice, SequenceLoss
from pytest_evalplug.model.openai_api import OpenAIBackend
from pytest_evalplug.model.retry import RetryPolicy
from pytest_evalplug.model.spec import OpenAIOptions
from pytest_evalplug.types import LoglikelihoodQuery, ModelOutput
from tests.likelihood_server import (
    Reply,
    as_in_chats,
    of_the_end,
    of_the_reply,
    scoring,
    toy_tokens,
    with_bos,
    with_column,
    without_echo,
    without_logprobs,
)
from tests.model.make_vllm_replies import BOS, FILE, QUERIES, QUESTIONS, TEXTS, questions
from tests.servers import (
    Action,
    Call,
    OpenAIServer,
    RealServer,
    api_server,
    error,
    in_turn,
    payload,
)

__all__ = ["api_server"]

FAST = RetryPolicy(max_retries=3, base=0.01, busy_base=0.01, quick=0.01)
DAYS = LoglikelihoodQuery("red, blue, red,", (" blue", " green", " blue, red"))
SCORES = [[-0.5, -9.0, -0.5 * 3]]


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def make(url: str, **options: Any) -> OpenAIBackend:
    table: dict[str, Any] = {"model": "fake", "api": "completions", "timeout": 30.0, **options}
    return OpenAIBackend("fake", OpenAIOptions(base_url=url, **table), fingerprint="f", retry=FAST)


def choices(backend: OpenAIBackend, *queries: LoglikelihoodQuery) -> list[list[Choice]]:
    results = ask(backend, *queries)
    assert all(isinstance(result, list) for result in results), results
    return [result for result in results if isinstance(result, list)]


def ask(backend: OpenAIBackend, *queries: LoglikelihoodQuery) -> list[list[Choice] | ModelError]:
    async def main() -> list[list[Choice] | ModelError]:
        try:
            return await backend.loglikelihood(queries)
        finally:
            await backend.aclose()

    return asyncio.run(main())


def losses(backend: OpenAIBackend, *texts: str) -> list[SequenceLoss | ModelError]:
    async def main() -> list[SequenceLoss | ModelError]:
        try:
            return await backend.sequence_loss(texts)
        finally:
            await backend.aclose()

    return asyncio.run(main())


def values(result: list[list[Choice]]) -> list[list[float]]:
    return [[choice.logprob for choice in row] for row in result]


def stripped(texts: list[str]) -> list[str]:
    """Lose spaces, as tokens of SentencePiece do when each is decoded by itself."""
    return [text.strip() for text in texts]


class TestWhatServersSend:
    """The same scores, however a server counts."""

    @pytest.mark.parametrize(
        "change",
        [
            lambda reply: reply,
            with_column("text_offset", lambda offsets: [-1] * len(offsets)),  # SGLang
            with_column("text_offset", lambda offsets: [2 * offset for offset in offsets]),
            with_column("text_offset", lambda offsets: None),
            with_bos(),
            with_bos(""),  # decoded without special tokens
            with_column("tokens", stripped),
            with_column("tokens", lambda texts: [f"token_id:{n}" for n, _ in enumerate(texts)]),
        ],
        ids=["vllm", "minus", "bytes", "none", "bos", "empty bos", "stripped", "ids"],
    )
    def test_scores(self, api_server: OpenAIServer, change: Callable[[Reply], Reply]) -> None:
        api_server.script = scoring(toy_tokens, change)
        result = choices(make(api_server.url), DAYS)
        assert values(result) == SCORES
        assert [choice.num_tokens for choice in result[0]] == [1, 1, 3]
        assert [choice.is_greedy for choice in result[0]] == [True, False, True]

    def test_one_request_for_a_choice(self, api_server: OpenAIServer) -> None:
        api_server.script = scoring(toy_tokens)
        choices(make(api_server.url, extra_body={"priority": 1}), DAYS)
        first, *others = api_server.calls
        assert first.prompt == TRIAL_TEXT
        assert sorted(call.prompt for call in others) == sorted(
            f"{DAYS.context}{continuation}" for continuation in DAYS.continuations
        )
        for call in api_server.calls:
            assert call.path == "/v1/completions"
            assert call.body == {
                "model": "fake",
                "prompt": call.prompt,
                "echo": True,
                "logprobs": 1,
                "max_tokens": 1,
                "temperature": 0.0,
                "priority": 1,
            }

    def test_no_more_at_once_than_this_process_may(self, api_server: OpenAIServer) -> None:
        fits = scoring(toy_tokens)
        api_server.script = lambda call: (
            fits(call) if call.prompt == TRIAL_TEXT else after_two(api_server, fits(call))
        )
        backend = make(api_server.url)
        backend.limit(2)
        choices(backend, DAYS, DAYS)
        assert api_server.max_in_flight == 2

    def test_messages_are_joined_without_a_template(self, api_server: OpenAIServer) -> None:
        api_server.script = scoring(toy_tokens)
        query = LoglikelihoodQuery(
            [{"role": "user", "content": "red"}, {"role": "assistant", "content": "blue:"}],
            (" red",),
        )
        choices(make(api_server.url), query)
        assert api_server.prompts[-1] == "red\n\nblue: red"

    def test_a_sample_that_is_too_long_is_its_own_error(self, api_server: OpenAIServer) -> None:
        fits = scoring(toy_tokens)
        message = "This model's maximum context length is 64 tokens"
        api_server.script = lambda call: (
            error(400, message) if "long" in call.prompt else fits(call)
        )
        long = LoglikelihoodQuery("a long text", (" red", " blue"))
        failed, fine = ask(make(api_server.url), long, DAYS)
        assert isinstance(failed, TooLongError)
        assert isinstance(fine, list)
        assert values([fine]) == SCORES

    def test_a_failure_is_tried_again(self, api_server: OpenAIServer) -> None:
        fits = scoring(toy_tokens)
        flaky = in_turn(error(503, "busy"), "")
        api_server.script = lambda call: flaky(call) if call.attempt == 0 else fits(call)
        assert values(choices(make(api_server.url), DAYS)) == SCORES

    @pytest.mark.parametrize("value", [None, math.nan, -math.inf, 0.5, "-1", True])
    def test_a_value_that_is_none(self, api_server: OpenAIServer, value: Any) -> None:
        fits = scoring(toy_tokens)
        broken = scoring(
            toy_tokens, with_column("token_logprobs", lambda row: [*row[:-2], value, row[-1]])
        )
        api_server.script = lambda call: (broken if "red" in call.prompt else fits)(call)
        [result] = ask(make(api_server.url), DAYS)
        assert isinstance(result, ModelError)
        assert not isinstance(result, FatalModelError)
        assert "log-probability of the token ' blue'" in str(result)


class TestTheJoin:
    """Where the continuation begins."""

    @pytest.mark.parametrize(
        ("context", "continuation", "tokens", "asked"),
        [
            ("see red", " blue", 1, 1),
            ("see red ", "blue", 1, 1),  # the space goes to the continuation
            ("see http:", "//red", 2, 1),  # one token lies across
            ("see http:", "//", 1, 1),  # and it is all there is
        ],
    )
    def test_tokens_of_the_continuation(
        self, api_server: OpenAIServer, context: str, continuation: str, tokens: int, asked: int
    ) -> None:
        api_server.script = scoring(toy_tokens)
        [[choice]] = choices(make(api_server.url), LoglikelihoodQuery(context, (continuation,)))
        assert choice.num_tokens == tokens
        assert len(api_server.calls) == 1 + asked

    def test_a_context_is_counted_once_where_the_texts_do_not_fit(
        self, api_server: OpenAIServer
    ) -> None:
        api_server.script = scoring(toy_tokens, with_column("tokens", stripped))
        assert values(choices(make(api_server.url), DAYS)) == SCORES
        assert sorted(api_server.prompts[1:]) == sorted(
            [
                "red, blue, red,",
                *(f"red, blue, red,{continuation}" for continuation in DAYS.continuations),
            ]
        )

    def test_no_context(self, api_server: OpenAIServer) -> None:
        query = LoglikelihoodQuery("", ("red blue",))
        api_server.script = scoring(toy_tokens)
        [result] = ask(make(api_server.url), query)
        assert isinstance(result, ModelError)
        assert "nothing comes before 'red'" in str(result)
        assert "Set bos" in str(result)
        api_server.script = scoring(toy_tokens, with_bos())
        [[choice]] = choices(make(api_server.url), query)
        assert (choice.logprob, choice.num_tokens) == (-2.5 - 8.0, 2)
        api_server.script = scoring(toy_tokens)
        [[choice]] = choices(make(api_server.url, bos="<"), query)
        assert (choice.logprob, choice.num_tokens) == (-6.0 - 8.0, 2)

    def test_nothing_to_score(self, api_server: OpenAIServer) -> None:
        api_server.script = scoring(toy_tokens)
        [result] = ask(make(api_server.url), LoglikelihoodQuery("red", ("",)))
        assert "has no token" in str(result)
        [loss] = losses(make(api_server.url), "")
        assert "the text is empty" in str(loss)

    @settings(max_examples=50, deadline=None)
    @given(st.lists(st.text("ab ", max_size=3), min_size=1, max_size=8), st.data())
    def test_the_first_token_that_reaches_beyond(
        self, texts: list[str], data: st.DataObject
    ) -> None:
        prompt = "".join(texts)
        assume(len(prompt) > 1)
        known = data.draw(st.integers(0, len(texts)))  # the others' texts are not the prompt's
        size = len(texts)
        columns = {
            "tokens": [*["?"] * (size - known), *texts[size - known :], "z"],
            "token_logprobs": [None] + [-1.0] * size,
            "top_logprobs": [None] + [{"z": -1.0}] * size,
        }
        output = ModelOutput(f"{prompt}z", logprobs=columns, usage={"prompt_tokens": size})
        echo = read_echo(output, prompt)
        if isinstance(echo, str):
            assert size < 2
            return
        boundary = data.draw(st.integers(1, len(prompt) - 1))
        ends = list(itertools.accumulate(map(len, texts)))
        starts = [0, *ends][:-1]
        first = next(
            (
                n
                for n, (start, end) in enumerate(zip(starts, ends, strict=True))
                if start >= boundary or end > boundary
            ),
            size,
        )
        # an empty token before the known ones may stand at the boundary, too: nobody can tell
        if known and starts[size - known] <= boundary:
            assert split_at(echo, boundary) == max(first, size - known)
        else:
            assert split_at(echo, boundary) is None

    @settings(max_examples=50, deadline=None)
    @given(st.recursive(st.none() | st.text() | st.floats() | st.booleans(), st.lists))
    def test_whatever_a_server_sends(self, found: Any) -> None:
        for columns in (found, {"tokens": found, "token_logprobs": found, "top_logprobs": found}):
            result = read_echo(ModelOutput("", logprobs=columns), "red blue")
            assert isinstance(result, (str, Echo))


def after_two(server: OpenAIServer, then: Action | str) -> Action:
    """Answer when a second request has come, as it surely does if there may be two at once."""
    assert not isinstance(then, str)

    async def act(request: web.Request, call: Call) -> web.StreamResponse:
        deadline = time.monotonic() + 20
        while server.max_in_flight < 2 and time.monotonic() < deadline:
            await asyncio.sleep(0.005)
        return await then(request, call)

    return act


def same(values: list[Any]) -> list[Any]:
    return [None, *[-1.0] * (len(values) - 1)]


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (scoring(toy_tokens, without_echo), "ignores echo and logprobs"),
        (scoring(toy_tokens, without_logprobs), "echoes the prompt without log-probabilities"),
        (scoring(toy_tokens, of_the_reply), "of the reply only"),
        (scoring(toy_tokens, as_in_chats), "of the reply only"),
        (scoring(toy_tokens, of_the_end), "makes 6 tokens of a text of 16 words"),
        (
            scoring(toy_tokens, with_column("token_logprobs", lambda row: [None] * len(row))),
            "gives null in the place of the prompt's",
        ),
        (
            scoring(toy_tokens, with_column("top_logprobs", lambda row: None)),
            "gives no top_logprobs",
        ),
        (scoring(toy_tokens, with_column("tokens", lambda row: row[1:])), "of different lengths"),
        (
            scoring(toy_tokens, with_column("token_logprobs", lambda row: [*row[1:], None])),
            "gives log-probabilities that are none: [-",
        ),
        (
            scoring(
                toy_tokens,
                with_column("token_logprobs", lambda row: [v and math.exp(v) for v in row]),
            ),
            "gives log-probabilities that are none: [None, 0.0",
        ),
        (scoring(toy_tokens, with_column("token_logprobs", same)), "the same log-probability, -1"),
        (
            scoring(
                toy_tokens, with_column("token_logprobs", lambda row: [None, *row[-9:], *row[1:-9]])
            ),
            "finds 'volcano' as likely",
        ),
        (
            lambda call: error(400, "Only no echo is supported"),
            "does not answer a request with echo and logprobs: 400 Only no echo is supported",
        ),
        (lambda call: error(500, "boom"), "logprobs: 500 boom"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_server_that_is_of_no_use(
    api_server: OpenAIServer, script: Callable[[Any], Action], said: str
) -> None:
    api_server.script = script
    backend = make(api_server.url)

    async def main() -> None:
        try:
            with pytest.raises(FatalModelError) as raised:
                await asyncio.gather(*[backend.loglikelihood([DAYS]) for _ in range(3)])
            text = str(raised.value)
            assert "no usable log-probabilities: the server" in text
            assert said in text
            assert "use backend 'hf', or --eval-mode=gen" in text
            asked = len(api_server.calls)
            with pytest.raises(FatalModelError, match="no usable log-probabilities"):
                await backend.sequence_loss(["red"])
            assert len(api_server.calls) == asked
        finally:
            await backend.aclose()

    asyncio.run(main())
    assert set(api_server.prompts) == {TRIAL_TEXT}


@pytest.mark.real_model
def test_transformers_serve_is_of_no_use(real_server: RealServer) -> None:
    backend = make(real_server.base_url, model=real_server.model, timeout=120.0)
    with pytest.raises(FatalModelError, match="the server ignores echo and logprobs"):
        ask(backend, DAYS)


class TestRecordedReplies:
    """What vLLM 0.32 said of the bundled model in float32 (``make_vllm_replies.py``)."""

    RECORDED = json.loads(FILE.read_text(encoding="utf-8"))

    @pytest.fixture
    def backend(self, api_server: OpenAIServer) -> OpenAIBackend:
        api_server.script = lambda call: payload(self.RECORDED["replies"][call.prompt])
        return make(api_server.url, bos=BOS)

    def test_as_lm_evaluation_harness(self, backend: OpenAIBackend, data_dir: Path) -> None:
        path = Path(__file__).with_name("lm_eval_parity.json")
        rows = json.loads(path.read_text(encoding="utf-8"))["questions"][:QUESTIONS]
        queries = [
            LoglikelihoodQuery(question.context, question.continuations)
            for question in questions(data_dir)
        ]
        for row, scored in zip(rows, choices(backend, *queries), strict=True):
            assert [c.logprob for c in scored] == pytest.approx(row["logprobs"], abs=1e-3)
            assert [c.is_greedy for c in scored] == row["greedy"]

    def test_as_the_hf_backend(self, backend: OpenAIBackend) -> None:
        for query, scored, expected in zip(
            QUERIES, choices(backend, *QUERIES), self.RECORDED["choices"], strict=True
        ):
            for choice, (logprob, num_tokens, is_greedy) in zip(scored, expected, strict=True):
                assert choice.logprob == pytest.approx(logprob, abs=1e-3), query
                assert (choice.num_tokens, choice.is_greedy) == (num_tokens, is_greedy), query
        for text, loss, (nll, num_tokens) in zip(
            TEXTS, losses(backend, *TEXTS), self.RECORDED["losses"], strict=True
        ):
            assert isinstance(loss, SequenceLoss), text
            assert loss.nll == pytest.approx(nll, abs=1e-3)
            assert loss.num_tokens == num_tokens
