"""Calls a backend with as many prompts at once as it takes, from one asyncio loop."""

from __future__ import annotations

__all__ = ["Batcher", "StoppedError", "cancel_all"]

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_evalplug.errors import EvalplugError, FatalModelError, ModelError, StorageError
from pytest_evalplug.inference.budget import Account
from pytest_evalplug.inference.inferencers import Inferencer, Payload, is_async
from pytest_evalplug.inference.threads import DaemonThreads
from pytest_evalplug.model.base import GenerationParams, ModelBackend
from pytest_evalplug.model.deadline import DEADLINES, Deadline, clocks_stopped
from pytest_evalplug.model.usage import Usage
from pytest_evalplug.types import LoglikelihoodQuery, ModelOutput

log = logging.getLogger("pytest_evalplug.inference")

# How long a batch waits for company: requests are submitted in bursts, a few loop turns apart.
GATHER_SECONDS = 0.002
PLAIN_GRACE_SECONDS = 60.0
TIDY_SECONDS = 1.0
PATIENCE = 10
"""How many times a sample's time a plain function's call may take before it is said to hang."""


class StoppedError(ModelError):
    """The run was stopped before this request was sent."""


@dataclass(slots=True, eq=False)
class _Entry:
    payload: Payload
    params: GenerationParams
    size: int
    future: asyncio.Future[ModelOutput]
    deadlines: tuple[Deadline, ...] = ()
    held: bool = False
    batch: list[_Entry] = field(default_factory=list)
    task: asyncio.Task[None] | None = None
    """What asks for the batch that this is in."""

    def hold(self) -> None:
        """Stop the clocks of the sample while this waits for its turn."""
        self.held = True
        for deadline in self.deadlines:
            deadline.stop()

    def release(self) -> None:
        """Let them run, once."""
        for deadline in self.deadlines if self.held else ():
            deadline.go()
        self.held = False


class Batcher:
    """Groups requests with equal parameters and similar length into the backend's batches.

    At most ``concurrency`` calls are in flight. A batch always holds the oldest waiting request,
    with those nearest to it in length, so that nobody starves and padding stays small.
    """

    def __init__(
        self,
        backend: ModelBackend,
        inferencer: Inferencer,
        share: int = 1,
        account: Account | None = None,
    ) -> None:
        self.backend = backend
        self.used = Usage()
        """The tokens of all replies that say so."""
        self._account = account
        self.inferencer = inferencer
        self.batch_size = int(getattr(backend, "batch_size", 1))
        self.concurrency = max(1, int(getattr(backend, "concurrency", 1)) // share)
        limit = getattr(backend, "limit", None)
        if limit is not None:
            limit(self.concurrency)
        self.fatal: FatalModelError | StorageError | None = None
        """Why nothing more is asked: no request can succeed, or no reply be kept."""
        self._pending: list[_Entry] = []
        self._running: set[asyncio.Task[None]] = set()
        self._stopped = False
        self._threads = DaemonThreads(self.concurrency, "evalplug-backend")
        self._calls: set[asyncio.Future[Any]] = set()
        """Of plain functions; some may have been left behind."""
        self._hangs = False
        self._async: dict[str, bool] = {}
        """Which of the backend's methods are coroutine functions."""

    async def submit(self, payload: Payload, params: GenerationParams) -> ModelOutput:
        """Return the backend's output; raises ModelError, StoppedError once stopped."""
        if self.fatal:
            raise self.fatal
        if self._stopped:
            raise StoppedError("the run was stopped")
        future: asyncio.Future[ModelOutput] = asyncio.get_running_loop().create_future()
        entry = _Entry(payload, params, _size(payload), future, DEADLINES.get())
        entry.hold()
        for deadline in entry.deadlines:  # a hook's thread can't be cancelled, what it asks can
            deadline.at_end(future.cancel)
        self._pending.append(entry)
        self._start()
        try:
            return await future
        except asyncio.CancelledError:
            self._give_up(entry)
            raise
        finally:
            entry.release()

    def _give_up(self, entry: _Entry) -> None:
        """Don't ask for what nobody waits for any more."""
        if entry in self._pending:
            self._pending.remove(entry)
        elif entry.task is not None and all(other.future.done() for other in entry.batch):
            entry.task.cancel()

    def send_no_more(self) -> None:
        """Send nothing more, from now on; may be called from any thread."""
        self._stopped = True
        if self._account is not None:
            self._account.closed = True

    def drop_waiting(self) -> None:
        """Let all fail that has not been sent, by the backend too; on the loop's thread."""
        self._fail_pending(StoppedError("the run was stopped"))
        silence = getattr(self.backend, "send_no_more", None)
        if silence is not None:
            silence()

    def give_up(self, error: FatalModelError | StorageError) -> None:
        """Send nothing more because of ``error``; on the loop's thread."""
        self.fatal = self.fatal or error
        self._fail_pending(self.fatal)

    async def stop(self, grace: float) -> None:
        """Send nothing more; wait for what is in flight, at most ``grace`` seconds if async.

        A call of a plain function can't be cancelled, so it has longer.
        """
        self.send_no_more()
        self.drop_waiting()
        if self._running:
            plain = not is_async(getattr(self.backend, self.inferencer.method))
            await asyncio.wait(self._running, timeout=PLAIN_GRACE_SECONDS if plain else grace)
        for call in self._calls:
            call.cancel()
        await cancel_all(self._running)
        self._threads.shutdown(wait=False)

    def _start(self) -> None:
        if self._pending and not self._stopped and len(self._running) < self.concurrency:
            task = asyncio.create_task(self._run())
            self._running.add(task)
            task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._start()

    async def _run(self) -> None:
        if self.batch_size > 1:
            await asyncio.sleep(GATHER_SECONDS)
        if not self._pending or self._stopped:
            return
        batch = self._take()
        for entry in batch:
            entry.batch, entry.task = batch, asyncio.current_task()
        DEADLINES.set(tuple(deadline for entry in batch for deadline in entry.deadlines))
        try:
            results = await self._ask(batch)
            if len(results) != len(batch):
                raise ModelError(
                    f"{self.inferencer.method}() returned {len(results)} results for "
                    f"{len(batch)} prompts",
                    where=f"backend {self.backend.name!r}",
                )
        except asyncio.CancelledError:
            self._settle(batch, [StoppedError("the run was stopped")] * len(batch))
            raise
        except StorageError as error:  # what must be kept together, a rate or a budget
            self.give_up(error)
            self._settle(batch, [error] * len(batch))
            return
        except BaseException as error:  # a backend may raise anything, SystemExit for one
            results = [self._as_model_error(error)] * len(batch)
        self._settle(batch, results)

    async def _ask(self, batch: list[_Entry]) -> Sequence[ModelOutput | ModelError]:
        if self._account is None:
            return await self._infer(batch)
        sizes = [entry.size for entry in batch]
        results = await self._account.pay(sizes, batch[0].params, lambda: self._infer(batch))
        if self._account.unkept is not None:
            self.give_up(self._account.unkept)
        return results

    async def _infer(self, batch: list[_Entry]) -> Sequence[ModelOutput | ModelError]:
        for entry in batch:
            entry.release()
        payloads = [entry.payload for entry in batch]
        return await self.inferencer.infer(self._call, payloads, batch[0].params)

    async def _call(self, method: str, *args: Any) -> Any:
        function = getattr(self.backend, method)
        if method not in self._async:
            self._async[method] = is_async(function)
        if self._async[method]:
            return await function(*args)
        with clocks_stopped():
            await self._free_thread()
        job = asyncio.get_running_loop().run_in_executor(self._threads, function, *args)
        self._calls.add(job)
        job.add_done_callback(self._calls.discard)
        return await asyncio.shield(job)  # no thread can be cancelled: its call takes a place

    async def _free_thread(self) -> None:
        """Wait where calls that nobody waits for any more take the place of others.

        Raises ModelError if they hang; at once where they are known to.
        """
        while len(self._calls) >= self.concurrency:
            patience = max((PATIENCE * d.seconds for d in DEADLINES.get()), default=None)
            back, _ = await asyncio.wait(
                self._calls,
                timeout=0 if self._hangs else patience,
                return_when=asyncio.FIRST_COMPLETED,
            )
            self._hangs = not back
            if self._hangs:
                raise ModelError(
                    "an earlier call, whose time was up, has not come back",
                    where=f"model {self.backend.name!r}",
                    fix="Raise --eval-sample-timeout, or end calls that hang in the backend",
                )
        self._hangs = False

    def _take(self) -> list[_Entry]:
        """Remove and return the next batch."""
        head = self._pending[0]
        if self.batch_size == 1:
            return [self._pending.pop(0)]
        same = sorted((e for e in self._pending if e.params == head.params), key=lambda e: -e.size)
        start = min(same.index(head), max(0, len(same) - self.batch_size))
        batch = same[start : start + self.batch_size]
        chosen = set(map(id, batch))
        self._pending = [entry for entry in self._pending if id(entry) not in chosen]
        return batch

    def _settle(self, batch: list[_Entry], results: Sequence[ModelOutput | EvalplugError]) -> None:
        for entry, result in zip(batch, results, strict=True):
            if isinstance(result, ModelOutput) and (usage := Usage.of(result.usage)):
                self.used = self.used.plus(usage)
            if entry.future.done():
                continue
            if isinstance(result, EvalplugError):
                entry.future.set_exception(result)
                if isinstance(result, FatalModelError):
                    self.give_up(result)
            else:
                entry.future.set_result(result)

    def _fail_pending(self, error: EvalplugError) -> None:
        pending, self._pending = self._pending, []
        for entry in pending:
            if not entry.future.done():
                entry.future.set_exception(error)

    def _as_model_error(self, error: BaseException) -> ModelError:
        if isinstance(error, ModelError):
            return error
        log.exception("backend %r failed", self.backend.name)
        return ModelError(f"{type(error).__name__}: {error}", where=f"model {self.backend.name!r}")


async def cancel_all(tasks: set[asyncio.Task[None]]) -> None:
    """Cancel tasks, and let them tidy up, if that is quick."""
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=TIDY_SECONDS)


def _size(payload: Payload) -> int:
    """Return a cheap stand-in for the number of tokens."""
    if isinstance(payload, LoglikelihoodQuery):
        return _size(payload.context) + max(map(len, payload.continuations), default=0)
    if isinstance(payload, str):
        return len(payload)
    return sum(len(str(message["content"])) for message in payload)
