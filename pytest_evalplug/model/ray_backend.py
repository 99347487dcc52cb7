"""Replicas of a transformers model as Ray actors, on one machine or on many."""

from __future__ import annotations

__all__ = ["RayBackend"]

import logging
import os
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_evalplug.errors import ConfigError, EvalplugError, ModelError, one_line
from pytest_evalplug.model.base import Capability, Choice, GenerationParams, SequenceLoss
from pytest_evalplug.model.ray_cluster import join, leave
from pytest_evalplug.model.ray_pool import IN_FLIGHT, PATIENCE_SECONDS, LostError, Pool
from pytest_evalplug.model.spec import HFOptions
from pytest_evalplug.types import LoglikelihoodQuery, ModelOutput, Prompt

log = logging.getLogger("pytest_evalplug.model")

_RESTARTS = 10
"""How often Ray may start an actor again, wherever there is room."""
_SILENT_SECONDS = 30.0
"""How long nothing is said while no replica has found room."""
_GATHER_SECONDS = 60.0
"""How long the first replica that is there waits for the others."""


class RayBackend:
    """Implements :class:`~pytest_evalplug.model.base.ModelBackend` with HFBackends elsewhere.

    Connects to a cluster, starts the actors and waits for them, but not long for those that have
    no room yet; they join when they are there. With pytest-xdist each worker has its part of the
    replicas. Raises ConfigError if there is no cluster or no room in it, or if the model can't be
    had on a node.
    """

    capabilities: frozenset[Capability] = HFOptions.capabilities

    def __init__(self, name: str, options: HFOptions, *, fingerprint: str) -> None:
        self.name = name
        self.fingerprint = fingerprint
        self.batch_size = options.batch_size
        self.concurrency = IN_FLIGHT * options.replicas
        self._where = f"model {name!r}"
        number, workers = _worker()
        own = _own_replicas(options.replicas, number, workers, self._where)
        self._actors: list[Any] = []
        self._ray = join(options.ray_address, self._where, alone=workers == 1)
        try:
            self._start(own, options)
        except BaseException:
            self.close()
            raise
        self._pool = Pool(name, [_RayReplica(self._ray, actor) for actor in self._actors])

    async def generate(
        self, prompts: Sequence[Prompt], params: GenerationParams
    ) -> list[ModelOutput | ModelError]:
        """Return a completion per prompt; see :meth:`HFBackend.generate`."""
        outputs: list[ModelOutput | ModelError] = await self._pool.call(
            "generate", list(prompts), params
        )
        return outputs

    async def loglikelihood(
        self, queries: Sequence[LoglikelihoodQuery]
    ) -> list[list[Choice] | ModelError]:
        """Return each continuation's log-probability; see :meth:`HFBackend.loglikelihood`."""
        choices: list[list[Choice] | ModelError] = await self._pool.call(
            "loglikelihood", list(queries)
        )
        return choices

    async def sequence_loss(self, texts: Sequence[Prompt]) -> list[SequenceLoss | ModelError]:
        """Return each text's loss; see :meth:`HFBackend.sequence_loss`."""
        losses: list[SequenceLoss | ModelError] = await self._pool.call(
            "sequence_loss", list(texts)
        )
        return losses

    async def aclose(self) -> None:
        """Close, from the loop that the calls came from."""
        self._pool.close()
        self.close()

    def close(self) -> None:
        """End the actors; leave the cluster, which ends if it was started here."""
        if self._ray is None:
            return
        ray, self._ray = self._ray, None
        try:
            for actor in self._actors:
                with suppress(Exception):  # the cluster may be gone
                    ray.kill(actor)
        finally:
            leave()

    def _start(self, count: int, options: HFOptions) -> None:
        """Make the actors; wait for their models."""
        gpus = options.num_gpus
        if gpus is None:
            gpus = 1 if self._ray.cluster_resources().get("GPU") else 0
        room = _room((n["Resources"] for n in self._ray.nodes() if n["Alive"]), gpus)
        if room == 0:
            raise ConfigError(
                f"no node of the Ray cluster has {gpus:g} GPUs and a core for a replica",
                where=self._where,
                fix="Set num_gpus = 0 to use CPUs, or see 'ray status'",
            )
        if gpus > 1 and "device_map" not in options.model_kwargs:
            raise ConfigError(
                f"num_gpus is {gpus:g}, but the model is put on one GPU",
                where=self._where,
                fix='Set model_kwargs = { device_map = "auto" }, or num_gpus = 1',
            )
        if room < count:
            log.warning(
                "%s: the cluster has room for %d of %d replicas now", self._where, room, count
            )
        from pytest_evalplug.model.ray_replica import ModelActor

        actor = self._ray.remote(ModelActor).options(
            num_cpus=1, num_gpus=gpus, max_restarts=_RESTARTS, max_task_retries=0
        )
        sent = _as_sent(options, gpus)
        self._actors = [actor.remote(self.name, sent) for _ in range(count)]
        self._wait_for_room()
        self._wait()

    def _wait_for_room(self) -> None:
        """Return when one has been placed on a node. Raises ConfigError if none ever is."""
        placed = [actor.placed.remote() for actor in self._actors]
        if self._ray.wait(placed, num_returns=1, timeout=_SILENT_SECONDS)[0]:
            return
        log.warning("%s: no replica has room yet, see 'ray status'", self._where)
        if not self._ray.wait(placed, num_returns=1, timeout=PATIENCE_SECONDS)[0]:
            raise ConfigError(
                f"no replica has found room in the Ray cluster for {PATIENCE_SECONDS:.0f} seconds",
                where=self._where,
                fix="See 'ray status' for what has the GPUs and cores",
            )

    def _wait(self) -> None:
        """Return when all have loaded the model, or some time after the first has.

        Raises the first ConfigError of any of them: a node where the model can't be had. What
        else goes wrong with one (the memory of its GPU is taken) leaves the others to go on.
        """
        waiting = [actor.load.remote() for actor in self._actors]
        until: float | None = None
        error: Exception | None = None
        while waiting:
            left = None if until is None else max(0.0, until - time.monotonic())
            done, waiting = self._ray.wait(waiting, num_returns=1, timeout=left)
            if not done:
                return
            try:
                self._ray.get(done[0])
            except Exception as caught:
                error = _translated(self._ray, caught)
                if isinstance(error, EvalplugError) and not isinstance(error, ModelError):
                    raise error from None
                log.warning("%s: %s", self._where, error)
            else:
                until = until or time.monotonic() + _GATHER_SECONDS
        if until is None:
            raise ConfigError(
                f"no replica could load the model, the last one: {error}",
                where=self._where,
                fix="See Ray's logs (/tmp/ray/session_latest/logs); the usual reason is memory",
            )


class _RayReplica:
    """An actor's handle as the pool wants it."""

    def __init__(self, ray: Any, actor: Any) -> None:
        self._ray = ray
        self._actor = actor

    async def load(self) -> None:
        await self._result(self._actor.load.remote())

    async def call(self, method: str, *args: Any) -> Any:
        return await self._result(self._actor.call.remote(method, *args))

    async def _result(self, reference: Any) -> Any:
        try:
            return await reference
        except Exception as error:
            raise _translated(self._ray, error) from None


def _translated(ray: Any, error: Exception) -> Exception:
    """Return what an error of Ray means here: the model's own error, or a replica that is lost."""
    if isinstance(error, ray.exceptions.RayTaskError):
        if isinstance(error.cause, EvalplugError):
            return error.cause
        log.error("%s", error)
        return ModelError(one_line(error.cause))
    if isinstance(error, ray.exceptions.RayError):
        forever = not isinstance(error, _passing(ray))
        return LostError(one_line(error), forever=forever)
    return error


def _passing(ray: Any) -> tuple[type[Exception], ...]:
    """Return the errors after which an actor may be there again."""
    errors = ray.exceptions
    return (
        errors.ActorUnavailableError,
        errors.NodeDiedError,
        errors.ObjectLostError,
        errors.OutOfMemoryError,
        errors.RpcError,
    )


def _worker() -> tuple[int, int]:
    """Return pytest-xdist's number of this process, and of how many."""
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    number = re.sub(r"\D", "", os.environ.get("PYTEST_XDIST_WORKER", "")) or "0"
    return int(number) % workers, workers


def _own_replicas(replicas: int, number: int, workers: int, where: str) -> int:
    """Return how many of the replicas are those of one worker."""
    if replicas < workers:
        raise ConfigError(
            f"replicas = {replicas} are too few for {workers} workers of pytest-xdist",
            where=where,
            fix=f"Use at most -n {replicas}, or leave -n away: replicas work side by side anyway",
        )
    return len(range(number, replicas, workers))


def _room(nodes: Iterable[Mapping[str, float]], gpus: float) -> int:
    """Return how many replicas fit on nodes of these resources."""
    return sum(
        int(min(node.get("CPU", 0), node.get("GPU", 0) / gpus if gpus else float("inf")))
        for node in nodes
    )


def _as_sent(options: HFOptions, gpus: float) -> HFOptions:
    """Return the options as they hold on any node: whole paths, no GPU that Ray has not given."""

    def whole(name: str | None) -> str | None:
        path = Path(name).expanduser() if name else None
        return str(path.resolve()) if path is not None and path.exists() else name

    return replace(
        options,
        model=whole(options.model) or options.model,
        tokenizer=whole(options.tokenizer),
        device="cpu" if options.device == "auto" and not gpus else options.device,
    )
