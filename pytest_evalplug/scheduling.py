"""pytest-xdist: items are dealt by a rule that controller and workers both know.

Every worker has collected the same items. They are cut into blocks, and block ``b`` goes to
worker ``b mod n``; so a worker knows from the start what it will run, and its engine can work
ahead. Only what a crashed worker leaves is handed out freely.
"""

from __future__ import annotations

__all__ = ["EvalScheduling", "LateScheduling", "block_size", "lane"]

from collections.abc import Callable
from typing import Any

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScheduling, WorkStealingScheduling
from xdist.workermanage import WorkerController

LARGEST_BLOCK = 8
"""Items in a block at most: few messages, and neighbours, which share a prompt, stay together."""
BLOCKS_PER_WORKER = 4
"""Blocks a worker gets at least, where there are enough items: for an even end."""
QUEUED = 2
"""A worker needs to know its next item before it runs one, so it is never left with fewer."""


def block_size(items: int, workers: int) -> int:
    """Return how many items go to a worker at once."""
    return max(1, min(LARGEST_BLOCK, items // (BLOCKS_PER_WORKER * workers)))


def lane(items: int, workers: int, worker: int) -> list[int]:
    """Return the positions of the items that ``worker`` (from 0) of ``workers`` runs, in order."""
    size = block_size(items, workers)
    return [
        position
        for start in range(worker * size, items, workers * size)
        for position in range(start, min(start + size, items))
    ]


class LateScheduling:
    """Waits for the collection to know whether anything is evaluated; else xdist's own ``load``."""

    def __init__(
        self, config: pytest.Config, log: Producer, is_evaluation: Callable[[], bool]
    ) -> None:
        self._config = config
        self._log = log
        self._is_evaluation = is_evaluation
        self._chosen: Any = LoadScheduling(config, log)

    def schedule(self) -> None:
        """Choose at the first call, when every worker has collected; then deal."""
        plain = self._chosen
        first = isinstance(plain, LoadScheduling) and plain.collection is None
        if first and self._is_evaluation():
            self._chosen = EvalScheduling(self._config, self._log)
            for node in plain.nodes:
                self._chosen.add_node(node)
            for node, collection in plain.node2collection.items():
                self._chosen.add_node_collection(node, collection)
        self._chosen.schedule()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._chosen, name)


class EvalScheduling(WorkStealingScheduling):  # type: ignore[misc]
    """Deals lanes block by block; never steals, so that no prediction is asked for twice."""

    collection: list[str] | None
    pending: list[int]
    node2collection: dict[WorkerController, list[str]]
    node2pending: dict[WorkerController, list[int]]

    def __init__(self, config: pytest.Config, log: Producer | None = None) -> None:
        super().__init__(config, log)
        self._lanes: dict[WorkerController, list[int]] = {}

    @property
    def tests_finished(self) -> bool:
        """Tell whether nothing is left to hand out and every worker is at its last items."""
        return not any(self._lanes.values()) and bool(super().tests_finished)

    @property
    def has_pending(self) -> bool:
        """Tell whether items are left to hand out or to finish."""
        return any(self._lanes.values()) or bool(super().has_pending)

    def schedule(self) -> None:
        """Deal the lanes once every worker has collected the same items."""
        collection: list[str] | None = self.collection
        if collection is None:
            if not self._check_nodes_have_same_collection():
                return
            collection = self.collection = next(iter(self.node2collection.values()))
            nodes = sorted(self.node2collection, key=lambda node: _number(node.gateway.id))
            for worker, node in enumerate(nodes):
                self._lanes[node] = lane(len(collection), len(nodes), worker)
        self.check_schedule()

    def check_schedule(self) -> None:
        """Top up every worker from its lane, then from what a crash left over."""
        if self.collection is None:
            return
        for node, pending in self.node2pending.items():
            if node.shutting_down or len(pending) >= QUEUED or node not in self.node2collection:
                continue
            block: list[int] = []
            while len(pending) + len(block) < QUEUED and (more := self._next_block(node)):
                block += more
            if block:
                pending.extend(block)
                node.send_runtest_some(block)
            if len(pending) < QUEUED and not self._lanes.get(node):
                # the last item only runs once its worker knows that none follows
                node.shutdown()

    def remove_node(self, node: WorkerController) -> str | None:
        """Put a gone worker's items into the common pool; return the one that crashed it."""
        self.pending.extend(self._lanes.pop(node, []))
        crashed: str | None = super().remove_node(node)
        return crashed

    def _next_block(self, node: WorkerController) -> list[int]:
        source = self._lanes.get(node) or self.pending
        size = block_size(len(self.collection or ()), len(self.node2collection))
        block, source[:size] = source[:size], []
        return block


def _number(worker_id: str) -> int:
    """Return 3 for ``gw3``."""
    return int("".join(filter(str.isdigit, worker_id)) or 0)
