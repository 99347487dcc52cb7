"""A model behind an OpenAI-compatible API: OpenAI, vLLM, SGLang, llama.cpp, ``transformers serve``.

aiohttp sends the requests (``perf/api_client.py`` measures why); retries, backoff and the circuit
are ours (``api_client.py``), so that they can be seen and bounded.
"""

from __future__ import annotations

__all__ = ["OpenAIBackend"]

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from pytest_evalplug.errors import ConfigError, ModelError
from pytest_evalplug.model.api_client import ApiClient
from pytest_evalplug.model.api_schema import parse_output, request_body
from pytest_evalplug.model.api_scorer import ApiScorer, together
from pytest_evalplug.model.base import Capability, Choice, GenerationParams, SequenceLoss
from pytest_evalplug.model.retry import Failure, RetryPolicy
from pytest_evalplug.model.spec import OpenAIOptions
from pytest_evalplug.model.transport import Reply, shown_url
from pytest_evalplug.types import LoglikelihoodQuery, ModelOutput, Prompt

_OPENAI_URL = "https://api.openai.com/v1"
_PATHS = {"chat": "chat/completions", "completions": "completions"}


class OpenAIBackend:
    """Sends each prompt as one request, at most ``options.concurrency`` at once.

    The URL is ``options.base_url``, else ``OPENAI_BASE_URL``, else OpenAI's; the key is read from
    the environment variable ``options.api_key_env``, and a server may do without one, except
    OpenAI's own. ``retry`` sets the pauses; its ``max_retries`` is that of ``options`` by default.
    Raises ConfigError if the URL is none or OpenAI's key is not set.
    """

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
        self.capabilities: frozenset[Capability] = options.capabilities
        self._options = options
        url = _checked_url(name, options.base_url or os.environ.get("OPENAI_BASE_URL"))
        self._where = f"model {name} ({shown_url(url)})"
        self._client = ApiClient(
            self._where,
            url,
            options,
            headers=self._checked(self._make_headers(url)),
            retry=retry or RetryPolicy(max_retries=options.max_retries),
        )
        self._scorer = ApiScorer(self._client, options)

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

    def _checked(self, headers: dict[str, str]) -> dict[str, str]:
        for name, value in headers.items():
            if not f"{name}{value}".isprintable():
                raise ConfigError(
                    f"the header {name!r} has a control character or a line break in it",
                    where=self._where,
                    fix=f"Check {self._options.api_key_env} and the table's headers",
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

        return await together(map(in_turn, prompts))

    async def loglikelihood(
        self, queries: Sequence[LoglikelihoodQuery]
    ) -> list[list[Choice] | ModelError]:
        """Return each continuation's log-probability after its context, see :class:`ApiScorer`."""
        return await self._scorer.loglikelihood(queries)

    async def sequence_loss(self, texts: Sequence[Prompt]) -> list[SequenceLoss | ModelError]:
        """Return each text's loss, see :class:`ApiScorer`."""
        return await self._scorer.sequence_loss(texts)

    def limit(self, requests: int) -> None:
        """Have at most so many requests in flight where one call makes several."""
        self._scorer.slots = requests

    def share_limits(self, path: Path) -> None:
        """Keep the rates per minute together with all processes that name the same file."""
        self._client.share_limits(path)

    def send_no_more(self) -> None:
        """Cancel what waits to be sent, or sent again; on the event loop."""
        self._client.send_no_more()

    def close(self) -> None:
        """Close all connections; may be called from any thread."""
        self._client.close()

    async def aclose(self) -> None:
        """Close the connections of the running loop."""
        await self._client.aclose()

    async def _one(self, prompt: Prompt, params: GenerationParams) -> ModelOutput | ModelError:
        options = self._options
        body = request_body(options.model, options.api, prompt, params, options.extra_body)
        return await self._client.ask(_PATHS[options.api], body, self._read)

    def _read(self, reply: Reply) -> ModelOutput | Failure:
        return parse_output(reply, self._options.api)


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
