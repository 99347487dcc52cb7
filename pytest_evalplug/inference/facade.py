"""The ``model`` that an adapter's own inference hooks talk to."""

from __future__ import annotations

__all__ = ["ModelFacade"]

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from pytest_evalplug.inference.inferencers import Payload
from pytest_evalplug.model.base import GenerationParams
from pytest_evalplug.types import ModelOutput, Prompt

Submit = Callable[[Payload, GenerationParams], Awaitable[ModelOutput]]


class ModelFacade:
    """A thread-safe view of the backend that joins the engine's batches and limits."""

    def __init__(
        self,
        name: str,
        submit: Submit,
        params: GenerationParams,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self.name = name
        self._submit = submit
        self._params = params
        self._loop = loop

    def generate(self, prompt: Prompt, **params: Any) -> ModelOutput:
        """Ask from a hook that is a plain function; blocks until the reply is there.

        ``params`` override the benchmark's generation parameters. Raises ModelError.
        """
        future = asyncio.run_coroutine_threadsafe(self.agenerate(prompt, **params), self._loop)
        return future.result()

    async def agenerate(self, prompt: Prompt, **params: Any) -> ModelOutput:
        """Ask from a hook that is a coroutine function."""
        return await self._submit(prompt, replace(self._params, **params))
