"""Asking a judge model, once for each question, and keeping what it replied."""

from __future__ import annotations

__all__ = ["Judge", "judge_from"]

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_evalplug.errors import ConfigError, EvalplugError, FatalModelError, StorageError
from pytest_evalplug.evaluation.waiting import wait_for
from pytest_evalplug.inference.batcher import Batcher, StoppedError
from pytest_evalplug.inference.budget import Limits
from pytest_evalplug.inference.inferencers import INFERENCERS
from pytest_evalplug.model.base import GenerationParams, ModelBackend
from pytest_evalplug.model.deadline import DEADLINES
from pytest_evalplug.model.price import Price
from pytest_evalplug.model.spec import ModelSpec, resolve_model
from pytest_evalplug.model.usage import Usage
from pytest_evalplug.run.jsonio import digest
from pytest_evalplug.run.predictions import JudgementStore
from pytest_evalplug.types import ModelOutput, Prompt

log = logging.getLogger("pytest_evalplug.judge")


@dataclass(eq=False)
class Judge:
    """A model that is asked about replies; the same question is asked, and paid, once.

    The model is loaded at the first question that ``store`` has no reply to, so scoring again
    needs neither the judge nor its key. All coroutines run on the one loop of
    :func:`~pytest_evalplug.evaluation.waiting.wait_for`.
    """

    name: str
    create: Callable[[], ModelBackend]
    fingerprint: str = ""
    generation: Mapping[str, Any] = field(default_factory=dict)
    store: JudgementStore | None = None
    share: int = 1
    """How many processes divide the judge's concurrency among them."""
    price: Price | None = None
    limits: Limits | None = None
    """What the run may use."""
    asked: int = 0
    reused: int = 0
    _batcher: Batcher | None = None
    _loop: asyncio.AbstractEventLoop | None = None
    """Where the batcher works."""
    _used: Usage = field(default_factory=Usage)
    _failure: FatalModelError | None = None
    _closed: bool = False
    _fresh: set[str] = field(default_factory=set)
    """Questions asked by this object."""
    _loading: asyncio.Lock = field(default_factory=asyncio.Lock)
    _waiting: dict[str, asyncio.Future[str]] = field(default_factory=dict)

    def generate(self, prompt: Prompt, *, dataset: str = "judge", **params: Any) -> str:
        """Return the judge's reply, for callers that are plain functions; raises ModelError."""
        return wait_for(self.ask(prompt, dataset=dataset, **params))

    async def ask(
        self,
        prompt: Prompt,
        *,
        dataset: str = "judge",
        accept: Callable[[str], bool] = lambda reply: True,
        **params: Any,
    ) -> str:
        """Return the judge's reply to ``prompt``, from the store if it has been asked before.

        ``params`` are fields of GenerationParams; the judge's own settings win over them.
        ``dataset`` names the file that keeps the reply. A reply of an earlier run that ``accept``
        does not take is asked for again. Raises ModelError, FatalModelError if the model can't
        be had.
        """
        settings = {"max_tokens": 1024, **params, **self.generation}
        asked = GenerationParams(**{**settings, "stop": tuple(settings.get("stop") or ())})
        key = digest([self.fingerprint or self.name, prompt, asked.to_wire()])
        while True:
            if key not in self._waiting:
                task = asyncio.ensure_future(self._reply(key, prompt, asked, dataset, accept))
                self._waiting[key] = task
                task.add_done_callback(lambda _: self._waiting.pop(key, None))
            reply = self._waiting[key]
            try:
                return await asyncio.shield(reply)
            except asyncio.CancelledError:
                over = not all(deadline.remaining for deadline in DEADLINES.get())
                if over or not reply.cancelled():
                    raise  # else the time of another sample was up, which had asked for it

    def stop(self) -> None:
        """Ask nothing more, from now on; may be called from any thread."""
        self._closed = True
        batcher = self._batcher
        if batcher is not None:
            batcher.send_no_more()
            assert self._loop is not None
            self._loop.call_soon_threadsafe(batcher.drop_waiting)

    def close(self) -> None:
        """Send nothing more, let go of the model, bring the replies to the disk."""
        self._closed = True
        if self._batcher is not None:
            try:
                wait_for(self._shut_down(self._batcher))
            except Exception as error:  # the replies are here
                log.warning("judge %s can't be closed", self.name, exc_info=error)
            self._used = self._batcher.used
            self._batcher = None
        if self.store is not None:
            self.store.close()

    @property
    def used(self) -> Usage:
        """The tokens of the replies that this judge was asked for."""
        return self._used if self._batcher is None else self._batcher.used

    async def _reply(
        self,
        key: str,
        prompt: Prompt,
        params: GenerationParams,
        dataset: str,
        accept: Callable[[str], bool],
    ) -> str:
        saved = self._saved(dataset, key)
        if saved is not None and (key in self._fresh or accept(saved)):
            self.reused += 1
            return saved
        batcher = await self._loaded()
        output = await batcher.submit(prompt, params)
        self.asked += 1
        self._fresh.add(key)
        if self.store:
            try:
                self.store.put(self.name, dataset, _record(key, prompt, output))
            except StorageError as error:
                batcher.give_up(error)
        return output.completion

    def _saved(self, dataset: str, key: str) -> str | None:
        if self.store is None:
            return None
        if self.share > 1:  # another process may have asked meanwhile
            self.store.refresh()
        record = self.store.get(self.name, dataset, key)
        return None if record is None else str(record["prediction"])

    async def _loaded(self) -> Batcher:
        async with self._loading:
            if self._closed:
                raise StoppedError("the run was stopped")
            if self._failure is not None:
                raise self._failure
            if self._batcher is None:
                self._loop = asyncio.get_running_loop()
                try:
                    backend = await self._loop.run_in_executor(None, self.create)
                except EvalplugError as error:
                    self._failure = FatalModelError(error.what, where=error.where, fix=error.fix)
                    raise self._failure from None
                account = None
                if self.limits is not None:
                    account = self.limits.account(self.name, backend, self.price)
                self._batcher = Batcher(backend, INFERENCERS["gen"], self.share, account)
                if self._closed:  # while it was loaded
                    self._batcher.send_no_more()
            return self._batcher

    @staticmethod
    async def _shut_down(batcher: Batcher) -> None:
        await batcher.stop(grace=5.0)
        backend: Any = batcher.backend
        if hasattr(backend, "aclose"):
            await backend.aclose()
        elif hasattr(backend, "close"):
            backend.close()


def judge_from(
    model: ModelSpec | ModelBackend | Mapping[str, Any] | str,
    store: JudgementStore | None = None,
    share: int = 1,
) -> Judge:
    """Return the judge that ``model`` means.

    ``model`` is a backend, a table as in ``[tool.evalplug.models]``, or a built-in name or an ad
    hoc form as for ``--model``. Raises ConfigError for what is no model.
    """
    if isinstance(model, Mapping):
        table = dict(model)
        name = str(table.pop("name", table.get("model", "judge")))
        model = resolve_model(name, {name: table})
    elif isinstance(model, str):
        model = resolve_model(model, {})
    if isinstance(model, ModelSpec):
        return Judge(
            model.name,
            model.create,
            model.fingerprint,
            model.generation,
            store=store,
            share=share,
            price=model.price,
        )
    if not callable(getattr(model, "generate", None)):
        raise ConfigError(
            f"{model!r} is no judge model", fix="Give a model's name, its table or a backend"
        )
    backend = model
    fingerprint = str(getattr(backend, "fingerprint", ""))
    return Judge(str(backend.name), lambda: backend, fingerprint, store=store, share=share)


def _record(key: str, prompt: Prompt, output: ModelOutput) -> dict[str, Any]:
    record: dict[str, Any] = {
        "index": key,
        "origin_prompt": prompt,
        "prediction": output.completion,
    }
    for name in ("finish_reason", "reasoning", "usage"):
        if (value := getattr(output, name)) is not None:
            record[name] = value
    return record
