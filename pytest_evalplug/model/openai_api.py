"""A model behind an OpenAI-compatible API: OpenAI, vLLM, SGLang, llama.cpp, ``transformers serve``.

aiohttp sends the requests (``perf/api_client.py`` measures why); retries, backoff and the circuit
are ours, so that they can be seen and bounded.
"""

from __future__ import annotations

__all__ = ["OpenAIBackend"]

import asyncio
import os
import re
import time
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from pytest_evalplug.errors import ConfigError, FatalModelError, ModelError, TooLongError, nearest
from pytest_evalplug.model.api_schema import failure_of, model_ids, parse_output, request_body
from pytest_evalplug.model.base import Capability, GenerationParams
from pytest_evalplug.model.retry import Circuit, Failure, RetryPolicy
from pytest_evalplug.model.spec import OpenAIOptions
from pytest_evalplug.model.transport import AiohttpTransport, TransportError, shown_url
from pytest_evalplug.types import ModelOutput, Prompt

_OPENAI_URL = "https://api.openai.com/v1"
_PATHS = {"chat": "chat/completions", "completions": "completions"}
_CIRCUIT_LIMIT = 8
_KEY_LIKE = re.compile(r"\b(sk|key|pk)-[\w*.-]{4,}|(?i:bearer|basic) \S+")
_FIXES = {
    "busy": "Lower concurrency in the model's table, or raise max_retries",
    "server": "The server's own log may say more",
    "timeout": "Raise timeout in the model's table, or lower concurrency",
    "rejected": "Check the generation parameters and extra_body of the model's table",
}


class OpenAIBackend:
    """Sends each prompt as one request, at most ``options.concurrency`` at once.

    The URL is ``options.base_url``, else ``OPENAI_BASE_URL``, else OpenAI's; the key is read from
    the environment variable ``options.api_key_env``, and a server may do without one, except
    OpenAI's own. ``retry`` sets the pauses; its ``max_retries`` is that of ``options`` by default.
    Raises ConfigError if the URL is none or OpenAI's key is not set.
    """

    capabilities: frozenset[Capability] = OpenAIOptions.capabilities
    batch_size = 1

    def __init__(
        self,
        name: str,
        options: OpenAIOptions,
        *,
        fingerprint: str,
        retry: RetryPolicy | None = None,
    ) -> None:
        self.name = name
        self.fingerprint = fingerprint
        self.concurrency = options.concurrency
        self._options = options
        url = _checked_url(name, options.base_url or os.environ.get("OPENAI_BASE_URL"))
        self._where = f"model {name} ({shown_url(url)})"
        self._headers = self._make_headers(url)
        self._transport = AiohttpTransport(
            url, headers=self._headers, timeout=options.timeout, limit=options.concurrency
        )
        self._retry = retry or RetryPolicy(max_retries=options.max_retries)
        self._circuit = Circuit(max(_CIRCUIT_LIMIT, options.concurrency))
        self._fatal: tuple[str, str] | None = None
        self._resume_at = 0.0
        self._max_tokens_name = "max_tokens"

    def __repr__(self) -> str:
        return f"<OpenAIBackend {self._where}>"

    def _make_headers(self, url: str) -> dict[str, str]:
        """Return the options' headers, and Authorization where nothing else authenticates."""
        headers = self._options.headers
        own = any(name.lower() in ("authorization", "api-key") for name in headers)
        if own or urlsplit(url).username:
            return headers
        key = os.environ.get(self._options.api_key_env, "").strip()
        if key:
            return {"Authorization": f"Bearer {key}", **headers}
        if url.startswith(_OPENAI_URL):
            raise ConfigError(
                f"no API key: {self._options.api_key_env} is not set",
                where=self._where,
                fix=f"Set {self._options.api_key_env}, or base_url for a server of your own",
            )
        return headers

    async def generate(
        self, prompts: Sequence[Prompt], params: GenerationParams
    ) -> list[ModelOutput | ModelError]:
        """Return a reply for each prompt, or the ModelError that says why there is none.

        Raises FatalModelError when no further request can succeed; from then on at once.
        """
        if len(prompts) == 1:  # what the engine asks; the rest is for callers of their own
            return [await self._one(prompts[0], params)]
        slots = asyncio.Semaphore(self.concurrency)

        async def in_turn(prompt: Prompt) -> ModelOutput | ModelError:
            async with slots:
                return await self._one(prompt, params)

        tasks = [asyncio.ensure_future(in_turn(prompt)) for prompt in prompts]
        try:
            return list(await asyncio.gather(*tasks))
        except BaseException:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise

    def close(self) -> None:
        """Close all connections; may be called from any thread."""
        self._transport.close()

    async def aclose(self) -> None:
        """Close the connections of the running loop."""
        await self._transport.aclose()

    async def _one(self, prompt: Prompt, params: GenerationParams) -> ModelOutput | ModelError:
        result = await self._persist(prompt, params)
        return result if isinstance(result, ModelOutput) else await self._give_up(result)

    async def _persist(self, prompt: Prompt, params: GenerationParams) -> ModelOutput | Failure:
        """Ask until there is a reply or the retry policy gives up."""
        options = self._options
        body = request_body(options.model, options.api, prompt, params, options.extra_body)
        attempt = 0
        while True:
            await self._gate()
            result = await self._attempt(body)
            if isinstance(result, ModelOutput):
                self._circuit.success()
                return result
            delay = self._retry.delay(result, attempt, answered=self._circuit.answered)
            if delay is None:
                return result
            if result.kind == "busy":
                self._resume_at = max(self._resume_at, time.monotonic() + delay)
            await asyncio.sleep(delay)
            attempt += 1

    async def _gate(self) -> None:
        """Hold while the server has asked for a pause; raise once the backend is given up."""
        while (wait := self._resume_at - time.monotonic()) > 0:
            await asyncio.sleep(wait)
        if self._fatal is not None:
            what, fix = self._fatal
            raise FatalModelError(what, where=self._where, fix=fix)

    async def _attempt(self, body: dict[str, Any]) -> ModelOutput | Failure:
        if self._max_tokens_name != "max_tokens" and "max_tokens" in body:
            body[self._max_tokens_name] = body.pop("max_tokens")
        try:
            reply = await self._transport.send("POST", _PATHS[self._options.api], body)
        except TransportError as error:
            return Failure("server" if error.kind == "broken" else error.kind, str(error))
        if reply.status == 200:
            return parse_output(reply, self._options.api)
        failure = failure_of(reply)
        if "max_completion_tokens" in failure.text and "max_tokens" in body:
            # OpenAI's reasoning models want the new name, most other servers know only the old.
            self._max_tokens_name = "max_completion_tokens"
            return await self._attempt(body)
        return failure

    async def _give_up(self, failure: Failure) -> ModelError:
        """Return the sample's error, or raise FatalModelError where it is not the sample's."""
        text = self._scrub(failure.text)
        if failure.kind == "too_long":
            return TooLongError(
                text, where=self._where, fix="Fewer few_shot_num or max_tokens make it fit"
            )
        if failure.kind == "fatal":
            raise self._stop(*self._diagnose_fatal(text))
        if failure.kind == "refused":
            raise self._stop(
                f"cannot connect: {text}", "Start the server, or correct base_url / OPENAI_BASE_URL"
            )
        if failure.kind in ("no_model", "rejected"):
            await self._check_model(failure, text)
        if self._circuit.failure(failure):
            raise self._stop(
                f"no usable reply to the last {max(_CIRCUIT_LIMIT, self.concurrency)} samples, "
                f"the latest: {text}",
                _FIXES[failure.kind],
            )
        return ModelError(text, where=self._where, fix=_FIXES[failure.kind])

    def _stop(self, what: str, fix: str) -> FatalModelError:
        self._fatal = (what, fix)
        return FatalModelError(what, where=self._where, fix=fix)

    def _diagnose_fatal(self, text: str) -> tuple[str, str]:
        variable = self._options.api_key_env
        if text.startswith("3"):
            return f"the server redirects: {text}", "Correct base_url (http or https? /v1?)"
        if text.startswith(("402", "429")):
            return f"no credit left: {text}", "Top up the account, or use another key"
        if any(name.lower() == "authorization" for name in self._headers):
            return f"the key was refused: {text}", f"Check the key in {variable}"
        return f"the server wants a key: {text}", f"Set {variable}"

    async def _check_model(self, failure: Failure, text: str) -> None:
        """Raise FatalModelError if the server does not know the model, or not the path.

        Some servers reject an unknown model with a 400, as they do a sample they don't like; so
        that is looked into only as long as nothing was ever answered.
        """
        if failure.kind == "rejected" and self._circuit.answered:
            return
        model = self._options.model
        served = await self._served_models()
        if served and model not in served:
            raise self._stop(f"no model {model!r} here: {text}", nearest(model, served))
        if failure.kind == "no_model":
            raise self._stop(
                f"no such model or path: {text}",
                f"Check the model's name {model!r} and that base_url ends in /v1 or the like",
            )

    async def _served_models(self) -> list[str]:
        try:
            return model_ids(await self._transport.send("GET", "models"))
        except TransportError:
            return []

    def _scrub(self, text: str) -> str:
        """Take out what a server or a proxy may echo of the key."""
        for value in self._headers.values():
            for secret in {value, value.rpartition(" ")[2]}:
                if len(secret) >= 6:
                    text = text.replace(secret, "***")
        return _KEY_LIKE.sub("***", text)


def _checked_url(name: str, url: str | None) -> str:
    try:
        parts = urlsplit(url or _OPENAI_URL)
        valid = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # a port that is none
        valid = False
    if not valid:
        raise ConfigError(
            f"{(url or '').rpartition('@')[2]!r} is not a base URL",
            where=f"model {name}",
            fix="base_url (or OPENAI_BASE_URL) looks like http://host:port/v1",
        )
    return url or _OPENAI_URL
