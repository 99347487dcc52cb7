from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdist.remote import Producer
from xdist.scheduler import LoadScheduling
from xdist.workermanage import WorkerController

from pytest_evalplug.scheduling import EvalScheduling, LateScheduling, block_size, lane


@given(items=st.integers(0, 500), workers=st.integers(1, 9))
def test_lanes_deal_every_item_once(items: int, workers: int) -> None:
    lanes = [lane(items, workers, worker) for worker in range(workers)]
    assert sorted(position for own in lanes for position in own) == list(range(items))
    assert all(own == sorted(own) for own in lanes)
    sizes = [len(own) for own in lanes]
    assert max(sizes) - min(sizes) <= block_size(items, workers)


def test_blocks_go_round() -> None:
    assert lane(20, 2, 0) == [0, 1, 4, 5, 8, 9, 12, 13, 16, 17]
    assert lane(20, 2, 1) == [2, 3, 6, 7, 10, 11, 14, 15, 18, 19]


def test_few_items_are_spread_and_many_go_in_large_blocks() -> None:
    assert [len(lane(32, 8, worker)) for worker in range(8)] == [4] * 8
    assert block_size(10_000, 8) == 8


class Node:
    """What the scheduler needs of a worker; runs its items when told to."""

    def __init__(self, number: int) -> None:
        self.gateway = self
        self.id = f"gw{number}"
        self.shutting_down = False
        self.sent: list[int] = []

    def send_runtest_some(self, indices: list[int]) -> None:
        assert not self.shutting_down
        self.sent += indices

    def shutdown(self) -> None:
        self.shutting_down = True


def start(pytester: pytest.Pytester, items: int, workers: int) -> tuple[Any, list[Any]]:
    config = pytester.parseconfig("--dist=load", f"--tx={workers}*popen")
    scheduler: Any = LateScheduling(config, Producer("test"), lambda: True)
    nodes: list[Any] = [Node(number) for number in range(workers)]
    collection = [f"test_{n}" for n in range(items)]
    for node in reversed(nodes):  # workers report in any order
        scheduler.add_node(node)
        scheduler.add_node_collection(node, collection)
    scheduler.schedule()
    return scheduler, nodes


def run_all(scheduler: Any, nodes: list[Any], crash_at: int | None = None) -> list[tuple[str, int]]:
    """Run items one by one, workers in turn; a worker knows its next item or is at its last."""
    done: list[tuple[str, int]] = []
    position = {node.id: 0 for node in nodes}
    alive = list(nodes)
    progress = True
    while progress:
        progress = False
        for node in list(alive):
            at = position[node.id]
            if at >= len(node.sent) or (at + 1 == len(node.sent) and not node.shutting_down):
                continue  # as xdist's worker: the last one waits for news
            progress = True
            if node.sent[at] == crash_at:
                alive.remove(node)
                assert scheduler.remove_node(node) == f"test_{crash_at}"
                scheduler.check_schedule()
                continue
            done.append((node.id, node.sent[at]))
            position[node.id] += 1
            scheduler.mark_test_complete(node, node.sent[at])
    return done


@pytest.mark.parametrize("items", [1, 2, 7, 8, 9, 40, 101])
@pytest.mark.parametrize("workers", [1, 2, 3])
def test_every_worker_runs_its_lane(pytester: pytest.Pytester, items: int, workers: int) -> None:
    scheduler, nodes = start(pytester, items, workers)
    done = run_all(scheduler, nodes)
    for number in range(workers):
        assert [i for name, i in done if name == f"gw{number}"] == lane(items, workers, number)
    assert scheduler.tests_finished
    assert not scheduler.has_pending


def test_a_crashed_workers_lane_is_shared_out(pytester: pytest.Pytester) -> None:
    scheduler, nodes = start(pytester, 40, 2)
    done = run_all(scheduler, nodes, crash_at=2)
    assert sorted(item for _, item in done) == [n for n in range(40) if n != 2]
    assert not scheduler.has_pending


def test_a_run_without_benchmarks_is_left_to_xdist(pytester: pytest.Pytester) -> None:
    config = pytester.parseconfig("--dist=load", "--tx=2*popen")
    scheduler: Any = LateScheduling(config, Producer("test"), lambda: False)
    nodes: list[Any] = [Node(0), Node(1)]
    for node in nodes:
        scheduler.add_node(node)
        scheduler.add_node_collection(node, [f"test_{n}" for n in range(8)])
    scheduler.schedule()
    assert isinstance(scheduler._chosen, LoadScheduling)
    assert all(node.sent for node in nodes)


def test_workers_that_collected_differently_get_nothing(pytester: pytest.Pytester) -> None:
    config = pytester.parseconfig("--dist=load", "--tx=2*popen")
    scheduler: Any = EvalScheduling(config)
    first: Any = Node(0)
    second: Any = Node(1)
    for node, collection in ((first, ["a", "b"]), (second, ["a", "c"])):
        scheduler.add_node(node)
        scheduler.add_node_collection(node, collection)
    scheduler.schedule()
    assert first.sent == second.sent == []


def test_the_parent_still_has_what_is_overridden() -> None:
    for name in ("schedule", "check_schedule", "remove_node", "mark_test_complete"):
        assert callable(getattr(EvalScheduling.__mro__[1], name))
    assert hasattr(WorkerController, "send_runtest_some")
