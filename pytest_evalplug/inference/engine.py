"""Works ahead of the items of one process, so that the model is asked in batches.

pytest runs items one by one; the engine is told them in order and asks for the predictions ahead
of them, within a window. An item only waits for its own.
"""

from __future__ import annotations

__all__ = ["Engine"]

import asyncio
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from pathlib import Path
from typing import Any

from pytest_evalplug.errors import (
    FatalModelError,
    NotApplicable,
    StorageError,
    TooLongError,
)
from pytest_evalplug.inference.batcher import Batcher, StoppedError, cancel_all
from pytest_evalplug.inference.budget import Account
from pytest_evalplug.inference.case import Case
from pytest_evalplug.inference.facade import ModelFacade
from pytest_evalplug.inference.hooks import Hooks, as_error, as_output
from pytest_evalplug.inference.inferencers import Inferencer, Payload
from pytest_evalplug.inference.records import (
    Record,
    build_record,
    generation_params,
    prediction_key,
)
from pytest_evalplug.inference.saved import with_gold
from pytest_evalplug.inference.threads import DaemonThreads
from pytest_evalplug.inference.timing import in_time
from pytest_evalplug.inference.turns import Turns
from pytest_evalplug.inference.window import Window
from pytest_evalplug.logs import RUN_LOG
from pytest_evalplug.loops import keep_running
from pytest_evalplug.model.base import GenerationParams, ModelBackend
from pytest_evalplug.model.spec import ModelInfo
from pytest_evalplug.model.usage import Usage
from pytest_evalplug.run.predictions import PredictionKey, PredictionStore
from pytest_evalplug.types import ModelOutput

log = logging.getLogger("pytest_evalplug.inference")

GRACE_SECONDS = 5.0
"""How long a stopped run waits for the requests in flight."""
PATIENCE_SECONDS = 0.05
"""How long an item lets the engine work on before it goes on itself."""
HOOK_THREADS = 32
LOOK_SECONDS = 1.0
"""How long a look at what others have saved is good for."""


class Engine:
    """Owns a thread with an asyncio loop; one engine per backend and process."""

    def __init__(
        self,
        backend: ModelBackend,
        inferencer: Inferencer,
        store: PredictionStore,
        *,
        model: ModelInfo,
        share: int = 1,
        account: Account | None = None,
        timeout: float | None = None,
        output_dir: Path,
        arrived: Callable[[Case, Record], None] | None = None,
        hide: Callable[[str], str] = str,
    ) -> None:
        self.backend = backend
        self._arrived = arrived
        """Called, on the engine's thread, with each prediction before its item may have it."""
        self._hide = hide
        """Takes secrets out of the text of an author's error, which is logged and stored."""
        self.inferencer = inferencer
        self.model = model
        self.counts = Counter[str]()
        """Cases by where their prediction came from: ``asked``, ``reused``, ``stale: <why>``."""
        self._store = store
        self._timeout = timeout
        """How long a sample may take, in seconds."""
        self._output_dir = output_dir
        self._batcher = Batcher(backend, inferencer, share, account)
        self._depth = max(2 * self._batcher.concurrency, 8) * self._batcher.batch_size
        self._futures: dict[Case, Future[Record]] = {}
        self._failed: dict[Case, Future[Record]] = {}
        """Errors outlive their item: a further test of the sample must not ask again."""
        self._seen: set[Case] = set()
        self._plan: Sequence[Case] = ()
        self._planned: set[Case] = set()
        self._over = Counter[Case]()
        """Items that were over before their turn in the plan came."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._looked = -LOOK_SECONDS
        self._stopping = False
        self._window = Window()
        self._room = asyncio.Event()
        self._full = False
        """The look-ahead waits for items to fetch their predictions."""
        self._hook_threads = DaemonThreads(HOOK_THREADS, "evalplug-hook")
        self._turns = Turns()
        self._loop = self._turns.new_loop()
        self._thread = threading.Thread(
            target=keep_running, args=(self._loop,), name="evalplug-engine", daemon=True
        )
        self._thread.start()

    @property
    def used(self) -> Usage:
        """The tokens of the replies that this engine has asked for."""
        return self._batcher.used

    @property
    def fatal(self) -> FatalModelError | StorageError | None:
        """The error after which no request can succeed, or no reply be kept."""
        return self._batcher.fatal

    def plan(self, cases: Sequence[Case]) -> None:
        """Start to work ahead through ``cases``, in this order."""
        self._plan = cases
        self._planned = set(cases)
        RUN_LOG.info(
            "model %s: %d samples planned, %s mode, batches of %d, %d at once",
            self.model.name,
            len(self._planned),
            self.inferencer.mode,
            self._batcher.batch_size,
            self._batcher.concurrency,
        )
        self._spawn(self._feed())

    def result(self, case: Case, tick: Callable[[], None] | None = None) -> Record:
        """Return the prediction record, waiting for it; ``tick`` is called while it waits.

        Raises ModelError if there is none, StorageError if none could be kept.
        """
        self._turns.let_engine(PATIENCE_SECONDS)
        future = self._futures.get(case)
        if future is None:
            self._check_alive()
            future = self._call(lambda: self._ensure(case))
        while not future.done() and not wait([future], timeout=0.2).done:
            self._check_alive()
            if tick:
                tick()
        return future.result()

    def forget(self, case: Case) -> None:
        """Drop a prediction whose item is over."""
        future = self._futures.get(case)
        if future is None:
            if case in self._planned and case not in self._seen:
                self._over[case] += 1
            return
        if not future.done():  # its item did not want it; a further test may
            future.add_done_callback(lambda _: self.forget(case))
            return
        if self._futures.pop(case, None) is not None and future.exception() is None:
            self._window.fetched(future.result())
        # its thread is woken once for many items; one that was interrupted ends after the engine
        enough = self._full and self._window.has_room(len(self._futures))
        if enough and self._thread.is_alive():
            self._full = False
            self._loop.call_soon_threadsafe(self._room.set)

    def facade(self, case: Case) -> ModelFacade:
        """Return the model for an author's test of a sample, with that sample's parameters."""
        return self._facade(generation_params(case, self.model))

    def stop(self) -> None:
        """Ask nothing more, from now on; may be called from any thread."""
        self._stopping = True
        self._batcher.send_no_more()
        with suppress(RuntimeError):  # it is closed
            self._loop.call_soon_threadsafe(self._batcher.drop_waiting)

    def close(self) -> None:
        """Stop asking, keep what arrives within the grace time, end the thread."""
        if not self._thread.is_alive():
            return
        self.stop()
        RUN_LOG.info("model %s: stopping, with %d under way", self.model.name, len(self._tasks))
        asyncio.run_coroutine_threadsafe(self._shut_down(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._hook_threads.shutdown(wait=False)
        counts = ", ".join(f"{count} {kind}" for kind, count in sorted(self.counts.items()))
        RUN_LOG.info(
            "model %s: closed; %s, %d without a prediction",
            self.model.name,
            counts or "nothing asked",
            len(self._failed),
        )

    async def _shut_down(self) -> None:
        self._room.set()
        await self._batcher.stop(GRACE_SECONDS)
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=GRACE_SECONDS)
        await cancel_all(self._tasks)
        closer = getattr(self.backend, "aclose", None)
        if closer is not None:
            try:
                await asyncio.wait_for(closer(), GRACE_SECONDS)
            except BaseException as error:  # the predictions are here
                log.warning("model %s can't be closed", self.model.name, exc_info=error)

    def _check_alive(self) -> None:
        if not self._thread.is_alive():
            raise StoppedError("the run was stopped")

    def _call(self, function: Callable[[], Future[Record]]) -> Future[Record]:
        """Run ``function`` on the loop's thread and return what it returns."""

        async def inner() -> Future[Record]:
            return function()

        return asyncio.run_coroutine_threadsafe(inner(), self._loop).result()

    def _spawn(self, coroutine: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    async def _feed(self) -> None:
        for case in self._plan:
            while not self._has_room():
                self._room.clear()
                self._full = self._window.is_full(len(self._futures))
                await self._room.wait()
            if self._stopping or self.fatal:
                return
            if self._over[case]:
                self._over[case] -= 1
            elif case not in self._seen:
                self._ensure(case)

    def _has_room(self) -> bool:
        if self._stopping or self.fatal:
            return True
        return len(self._tasks) < self._depth and not self._window.is_full(len(self._futures))

    def _ensure(self, case: Case) -> Future[Record]:
        """Return the case's future; starts the work if nobody has."""
        future = self._futures.get(case) or self._failed.get(case)
        if future is None:
            future = self._futures[case] = Future()
            first = case not in self._seen
            self._seen.add(case)
            task = self._loop.create_task(self._work(case, future, first))
            self._tasks.add(task)
            task.add_done_callback(self._worked)
        return future

    def _worked(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._room.set()

    async def _work(self, case: Case, future: Future[Record], first: bool) -> None:
        try:
            record = await self._predict(case, first)
        except (asyncio.CancelledError, GeneratorExit):
            future.set_exception(StoppedError("the run was stopped"))
            raise
        except BaseException as error:  # author code may raise anything, SystemExit for one
            self._failed[case] = future
            future.set_exception(as_error(error, case, self._hide))
        else:
            self._window.arrived(record)
            try:
                if self._arrived:
                    self._arrived(case, record)
            finally:
                future.set_result(record)

    async def _predict(self, case: Case, first: bool) -> Record:
        """Return the saved prediction if it still fits, else ask the model and save it.

        Only the ``first`` time counts: a further test of a sample finds what that one saved.
        """
        params = generation_params(case, self.model)
        payload = self.inferencer.build(case.adapter, case.sample, case.subset, None)
        key = prediction_key(self.model.fingerprint, self.inferencer, payload, params, case)
        if case not in self._planned:
            self._look_again()
        saved = self._store.get(self.model.name, case.dataset, case.index)
        if saved is not None and not self._stale(saved, key):
            if first:
                self.counts["reused"] += 1
            return with_gold(saved, case, self.model.name, self._store)
        try:
            asking = self._ask(case, payload, params)
            if self._timeout is not None:
                asking = in_time(asking, self._timeout)
            output, payload, dropped = await asking
        except (asyncio.CancelledError, GeneratorExit):
            raise
        except BaseException as caught:
            error = as_error(caught, case, self._hide)
            if isinstance(error, (StoppedError, FatalModelError, StorageError, NotApplicable)):
                raise error from None
            record = build_record(
                case, self.inferencer.shown(payload), key, error=self._hide(str(error))
            )
            self._keep(case, record)
            raise error from None
        shown = self.inferencer.shown(payload)
        record = build_record(case, shown, key, output=output, dropped_shots=dropped)
        self.counts["asked"] += 1
        self._keep(case, record)
        return record

    def _look_again(self) -> None:
        """Look for what a crashed worker may have left, but not for every sample."""
        now = time.monotonic()
        if now >= self._looked + LOOK_SECONDS:
            self._looked = now
            self._store.refresh()

    def _keep(self, case: Case, record: Record) -> None:
        """Save a record; if that fails, its item has it all the same, but nothing more is asked."""
        try:
            self._store.put(self.model.name, case.dataset, record)
        except StorageError as error:
            self._batcher.give_up(error)

    def _stale(self, saved: Record, key: PredictionKey) -> bool:
        changed = key.differs(saved.get("key"))
        if changed:
            self.counts[f"stale: {', '.join(changed)}"] += 1
        return bool(changed)

    async def _ask(
        self, case: Case, payload: Payload, params: GenerationParams
    ) -> tuple[ModelOutput, Payload, int]:
        """Return the output, what was asked in the end, and how many shots had to go for it."""
        hooks = self._hooks_of(case, payload, params) if Hooks.any_of(case) else None
        if hooks:
            if hooks.asks:
                return await hooks.ask(), payload, 0
            await hooks.start()
        shots = case.adapter.few_shot_num
        for dropped in range(shots + 1):
            if dropped:
                payload = self.inferencer.build(
                    case.adapter, case.sample, case.subset, shots - dropped
                )
            try:
                output = await self._batcher.submit(payload, params)
            except TooLongError:
                if dropped == shots:
                    raise
            else:
                output = as_output(output)
                return await hooks.end(output) if hooks else output, payload, dropped
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _hooks_of(self, case: Case, payload: Payload, params: GenerationParams) -> Hooks:
        """Return the adapter's hooks.

        Raises NotApplicable if it asks in its own way where choices are compared.
        """
        hooks = Hooks(
            case,
            payload,
            self._facade(params),
            output_dir=self._output_dir,
            threads=self._hook_threads,
        )
        if hooks.asks and self.inferencer.mode != "gen":
            raise NotApplicable(
                f"asks in its own way; {self.inferencer.mode} mode compares choices",
                where=case.dataset,
                fix="Run it with --eval-mode=gen",
            )
        return hooks

    def _facade(self, params: GenerationParams) -> ModelFacade:
        return ModelFacade(self.model.name, self._generate, params, self._loop)

    async def _generate(self, prompt: Payload, params: GenerationParams) -> ModelOutput:
        if self.inferencer.mode != "gen":
            raise NotApplicable(
                f"model {self.model.name!r} is not asked for text in {self.inferencer.mode} mode",
                fix="Run it with --eval-mode=gen",
            )
        return await self._batcher.submit(prompt, params)
