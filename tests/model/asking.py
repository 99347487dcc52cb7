"""Asks an OpenAIBackend, with pauses too short to wait for."""

from __future__ import annotations

import asyncio
from typing import Any

from pytest_evalplug.errors import ModelError
from pytest_evalplug.model.base import GenerationParams
from pytest_evalplug.model.openai_api import OpenAIBackend
from pytest_evalplug.model.retry import RetryPolicy
from pytest_evalplug.model.spec import OpenAIOptions
from pytest_evalplug.types import ModelOutput, Prompt
from tests.servers import OpenAIServer

KEY = "sk-test-0123456789abcdef"
FAST = RetryPolicy(max_retries=2, base=0.002, busy_base=0.002, quick=0.002)


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


def failure(backend: OpenAIBackend, prompt: Prompt = "2+2=") -> ModelError:
    [result] = ask(backend, prompt)
    assert isinstance(result, ModelError), result
    return result
