"""How likely texts are to a model behind an API: ``loglikelihood`` and ``sequence_loss``."""

from __future__ import annotations

__all__ = ["ApiScorer", "together"]

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TypeVar

from pytest_evalplug.errors import FatalModelError, ModelError
from pytest_evalplug.model.api_client import ApiClient
from pytest_evalplug.model.api_likelihood import Echo, likelihood_body, read_echo, split_at
from pytest_evalplug.model.api_schema import parse_output, plain_text
from pytest_evalplug.model.api_trial import TRIAL_TEXT, fault_of
from pytest_evalplug.model.base import Choice, SequenceLoss
from pytest_evalplug.model.retry import Failure
from pytest_evalplug.model.spec import OpenAIOptions
from pytest_evalplug.model.transport import Reply
from pytest_evalplug.types import LoglikelihoodQuery, ModelOutput, Prompt

_ELSEWHERE = (
    "vLLM, SGLang and llama-cpp-python (logits_all) can score a prompt; for a model that is served "
    "by something else use backend 'hf', or --eval-mode=gen"
)

T = TypeVar("T")
R = TypeVar("R")


class ApiScorer:
    """Asks for one text at a time, ``slots`` of them at once.

    The first text is a trial (``api_trial.py``): a server whose log-probabilities are of no use
    is a FatalModelError that says what it did.

    A text is sent as a whole, and the continuation's tokens are those that reach into it, white
    space at the end of the context being its own. That is what the HF backend scores
    (:meth:`PromptEncoder.pair`), by lm-evaluation-harness's rule, except where a token lies across
    the join: both replace that token by those of the context alone, so that what they score is
    another text. Where the tokens' texts don't tell (a tokenizer that drops spaces, a character in
    several tokens), the context is asked for by itself and its tokens are counted.

    Messages are joined by blank lines: the server's chat template does not apply.
    """

    def __init__(self, client: ApiClient, options: OpenAIOptions) -> None:
        self.slots = options.concurrency
        self._client = client
        self._options = options
        self._usable = False
        self._loop: asyncio.AbstractEventLoop | None = None

    async def loglikelihood(
        self, queries: Sequence[LoglikelihoodQuery]
    ) -> list[list[Choice] | ModelError]:
        """Return each continuation's summed log-probability (nats) after its context."""
        return await self._each(self._choices, queries)

    async def sequence_loss(self, texts: Sequence[Prompt]) -> list[SequenceLoss | ModelError]:
        """Return each text's loss; ``num_tokens`` counts the first token too, as ``hf`` does."""
        return await self._each(self._loss, texts)

    async def _each(
        self, measure: Callable[[T], Awaitable[R]], items: Sequence[T]
    ) -> list[R | ModelError]:
        await self._try_out()

        async def one(item: T) -> R | ModelError:
            try:
                return await measure(item)
            except FatalModelError:
                raise
            except ModelError as error:
                return error

        return await together([one(item) for item in items])

    async def _choices(self, query: LoglikelihoodQuery) -> list[Choice]:
        question = _Question(plain_text(query.context), self._options.bos or "", self._echo)
        return await together([question.choice(text) for text in query.continuations])

    async def _loss(self, text: Prompt) -> SequenceLoss:
        prompt = plain_text(text)
        if not prompt:
            raise ModelError("the text is empty: it has no loss")
        echo = await self._echo(prompt)
        return SequenceLoss(abs(echo.sum(1)[0]), len(echo.logprobs), echo.usage)

    async def _echo(self, prompt: str) -> Echo:
        """Return the tokens of a text. Raises ModelError."""
        echo = await self._read(prompt)
        if isinstance(echo, str):
            raise ModelError(f"the server {echo}", where=self._client.where)
        return echo

    async def _read(self, prompt: str) -> Echo | str:
        options = self._options
        body = likelihood_body(options.model, prompt, options.extra_body)
        async with self._slots:
            result = await self._client.ask("completions", body, _parse)
        if isinstance(result, ModelError):
            raise result
        return read_echo(result, prompt)

    async def _try_out(self) -> None:
        """Make sure once, before anything is asked, that the server can do this."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._loop = loop
            self._slots, self._lock = asyncio.Semaphore(self.slots), asyncio.Lock()
        async with self._lock:
            if self._usable:
                return
            try:
                fault = fault_of(await self._read(TRIAL_TEXT))
            except FatalModelError:
                raise
            except ModelError as error:
                fault = f"does not answer a request with echo and logprobs: {error.what}"
            if fault:
                self._client.stop(f"no usable log-probabilities: the server {fault}", _ELSEWHERE)
            self._usable = True


class _Question:
    """A context whose continuations are asked for together."""

    def __init__(self, context: str, bos: str, echo: Callable[[str], Awaitable[Echo]]) -> None:
        self._head = context.rstrip() or bos
        self._space = context[len(context.rstrip()) :]
        self._echo = echo
        self._alone: asyncio.Task[Echo] | None = None

    async def choice(self, continuation: str) -> Choice:
        """Score a continuation; white space at the end of the context goes to it."""
        tail = self._space + continuation
        if not tail:
            raise ModelError(f"the continuation {continuation!r} has no token")
        echo = await self._echo(self._head + tail)
        first = split_at(echo, len(self._head))
        if first is None:
            first = min(await self._tokens_alone(), len(echo.texts) - 1)
        if first == 0:
            raise ModelError(
                f"nothing comes before {echo.texts[0]!r}, the first token of a text: the server "
                "adds no BOS token",
                fix="Set bos in the model's table to the text of the token that begins a document",
            )
        logprob, greedy = echo.sum(first)
        return Choice(logprob, len(echo.texts) - first, greedy, echo.usage)

    async def _tokens_alone(self) -> int:
        if self._alone is None:
            self._alone = asyncio.ensure_future(self._echo(self._head))
        return len((await self._alone).texts)


def _parse(reply: Reply) -> ModelOutput | Failure:
    return parse_output(reply, "completions")


async def together(coroutines: Iterable[Awaitable[R]]) -> list[R]:
    """Await all at once; where one raises, the others end too."""
    tasks = [asyncio.ensure_future(coroutine) for coroutine in coroutines]
    try:
        return list(await asyncio.gather(*tasks))
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
