"""An adapter's own inference hooks, and what becomes of the errors that they raise."""

from __future__ import annotations

__all__ = ["Hooks", "as_error", "as_output"]

import asyncio
import logging
import traceback
from collections.abc import Callable
from concurrent.futures import Executor
from contextvars import copy_context
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_evalplug.errors import EvalplugError, ModelError, NotApplicable
from pytest_evalplug.inference.case import Case
from pytest_evalplug.inference.facade import ModelFacade
from pytest_evalplug.inference.inferencers import Payload, is_async
from pytest_evalplug.types import LoglikelihoodQuery, ModelOutput, TaskState

log = logging.getLogger("pytest_evalplug.inference")

_SKIPS = ("Skipped", "SkipTest")
"""What pytest and unittest raise to skip, by name: nothing here knows of pytest."""
_AROUND = ("_on_inference_start", "_on_inference_end")
_INSTEAD = ("_on_inference", "run_inference")


class Hooks:
    """The inference hooks of one case. Plain functions run in ``threads``."""

    def __init__(
        self,
        case: Case,
        payload: Payload,
        model: ModelFacade,
        *,
        output_dir: Path,
        threads: Executor,
    ) -> None:
        prompt = payload.context if isinstance(payload, LoglikelihoodQuery) else payload
        self._adapter = case.adapter
        self._sample = replace(case.sample, input=prompt)
        self._model = model
        self._folder = str(output_dir)
        self._threads = threads

    @staticmethod
    def any_of(case: Case) -> bool:
        """Tell whether the adapter overrides a hook."""
        return any(map(case.adapter.overrides, _AROUND + _INSTEAD))

    @property
    def asks(self) -> bool:
        """Whether the adapter asks the model in its own way."""
        return any(map(self._adapter.overrides, _INSTEAD))

    async def ask(self) -> ModelOutput:
        """Let the adapter ask in its own way, once."""
        adapter = self._adapter
        if adapter.overrides("run_inference"):
            return as_output(
                await self._call(adapter.run_inference, self._model, self._sample, self._folder)
            )
        await self.start()
        return await self.end(
            as_output(await self._call(adapter._on_inference, self._model, self._sample))
        )

    async def start(self) -> None:
        """Call what comes before a request, if the adapter has that."""
        if self._adapter.overrides("_on_inference_start"):
            await self._call(self._adapter._on_inference_start, self._model, self._sample)

    async def end(self, output: ModelOutput) -> ModelOutput:
        """Return what the adapter makes of an output."""
        if not self._adapter.overrides("_on_inference_end"):
            return output
        hook = self._adapter._on_inference_end
        result = await self._call(hook, self._model, self._sample, output, self._folder)
        return as_output(result, output)

    async def _call(self, hook: Callable[..., Any], *args: Any) -> Any:
        if is_async(hook):
            return await hook(*args)
        context = copy_context()  # what it asks for belongs to this sample, too
        loop = asyncio.get_running_loop()
        result = await loop.run_in_executor(self._threads, context.run, hook, *args)
        return await result if asyncio.iscoroutine(result) else result


def as_output(result: Any, default: ModelOutput | None = None) -> ModelOutput:
    """Return what a hook gave as a ModelOutput: a state's output, or a bare reply's.

    Raises ModelError for anything else, unless it is None and there is a ``default``.
    """
    if isinstance(result, TaskState):
        result = result.output
    if isinstance(result, str):
        return ModelOutput(result)
    if isinstance(result, ModelOutput):
        return result
    if result is None and default is not None:
        return default
    raise ModelError(f"an inference hook returned {type(result).__name__}, not a ModelOutput")


def as_error(error: BaseException, case: Case, hide: Callable[[str], str]) -> EvalplugError:
    """Return what an author's code raised as its sample's error; a skip as NotApplicable.

    ``hide`` takes secrets out of what is shown and logged.
    """
    if isinstance(error, EvalplugError):
        return error
    text = hide(str(error))
    if type(error).__name__ in _SKIPS:
        return NotApplicable(text or "skipped")
    trace = hide("".join(traceback.format_exception(error)))
    log.error("%s %s\n%s", case.dataset, case.item_id, trace.rstrip())
    return ModelError(f"{type(error).__name__}: {text}", where=case.item_id)
