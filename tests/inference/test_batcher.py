from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from pytest_evalplug.errors import FatalModelError, ModelError
from pytest_evalplug.inference import batcher as batcher_module
from pytest_evalplug.inference.batcher import Batcher, StoppedError
from pytest_evalplug.inference.inferencers import INFERENCERS
from pytest_evalplug.inference.timing import in_time
from pytest_evalplug.model.base import GenerationParams
from pytest_evalplug.model.deadline import DEADLINES, Deadline
from pytest_evalplug.types import ModelOutput, Prompt

from .conftest import Backend

GREEDY = GenerationParams()
GEN = INFERENCERS["gen"]


def ask(backend: Any, *prompts: str, params: GenerationParams = GREEDY) -> list[Any]:
    """Return the outputs or exceptions for prompts that are submitted at once."""

    async def run() -> list[Any]:
        batcher = Batcher(backend, GEN)
        tasks = [batcher.submit(prompt, params) for prompt in prompts]
        results = await asyncio.gather(*tasks, return_exceptions=True)
        await batcher.stop(1)
        return results

    return asyncio.run(run())


def test_every_request_gets_its_own_answer() -> None:
    prompts = [f"{'x' * (n * 7 % 5)}{n}" for n in range(20)]
    backend = Backend(batch_size=4)
    assert [output.completion for output in ask(backend, *prompts)] == [f"<{p}>" for p in prompts]
    assert [len(batch) for batch in backend.batches] == [4] * 5


def test_the_oldest_goes_first_with_those_near_it_in_length() -> None:
    backend = Backend(batch_size=2)
    ask(backend, "aaaa", "b", "cccc", "d")
    assert [sorted(batch) for batch in backend.batches] == [["aaaa", "cccc"], ["b", "d"]]


def test_requests_of_other_parameters_are_another_batch() -> None:
    backend = Backend(batch_size=8)
    hot = GenerationParams(temperature=1.0)

    async def run() -> None:
        batcher = Batcher(backend, GEN)
        await asyncio.gather(
            *(batcher.submit(p, params) for p, params in [("a", GREEDY), ("b", hot), ("c", GREEDY)])
        )
        await batcher.stop(1)

    asyncio.run(run())
    assert [sorted(batch) for batch in backend.batches] == [["a", "c"], ["b"]]


def test_an_error_in_its_place() -> None:
    good, bad = ask(Backend(batch_size=2), "good", "fail")
    assert good.completion == "<good>"
    assert isinstance(bad, ModelError)


def test_an_exception_is_every_request_s_of_the_batch() -> None:
    class Broken(Backend):
        def generate(self, prompts: Sequence[Prompt], params: GenerationParams) -> list[str]:
            raise KeyError("oops")

    for error in ask(Broken(batch_size=2), "a", "b"):
        assert isinstance(error, ModelError)
        assert str(error) == "model 'echo': KeyError: 'oops'"


def test_too_few_results_are_an_error_that_counts_them() -> None:
    class Short(Backend):
        def generate(self, prompts: Sequence[Prompt], params: GenerationParams) -> list[str]:
            return ["one"]

    (error, _) = ask(Short(batch_size=2), "a", "b")
    assert "generate() returned 1 results for 2 prompts" in str(error)


def test_after_a_fatal_error_nothing_more_is_sent() -> None:
    class Dead(Backend):
        def generate(self, prompts: Sequence[Prompt], params: GenerationParams) -> list[str]:
            self.batches.append(list(prompts))
            raise FatalModelError("key")

    backend = Dead()
    errors = ask(backend, "a", "b", "c")
    assert [str(error) for error in errors] == ["key"] * 3
    assert backend.batches == [["a"]]


def test_coroutines_run_at_once_within_the_limit() -> None:
    class Slow(Backend):
        now = most = 0

        async def generate(  # type: ignore[override]
            self, prompts: Sequence[Prompt], params: GenerationParams
        ) -> list[ModelOutput]:
            self.now += 1
            self.most = max(self.most, self.now)
            await asyncio.sleep(0.01)
            self.now -= 1
            return [ModelOutput("x") for _ in prompts]

    backend = Slow(concurrency=5)
    assert len(ask(backend, *map(str, range(20)))) == 20
    assert backend.most == 5


@pytest.mark.parametrize(("limit", "share", "own"), [(32, 2, 16), (3, 2, 1), (1, 8, 1)])
def test_workers_share_the_limit(limit: int, share: int, own: int) -> None:
    assert Batcher(Backend(concurrency=limit), GEN, share).concurrency == own


def test_a_backend_that_waits_to_send_is_told_to_stop() -> None:
    class Waiting(Backend):
        async def generate(  # type: ignore[override]
            self, prompts: Sequence[Prompt], params: GenerationParams
        ) -> list[str]:
            self.turn = asyncio.get_running_loop().create_future()
            await self.turn
            return ["sent"]

        def send_no_more(self) -> None:
            self.turn.cancel()

    async def run() -> None:
        batcher = Batcher(Waiting(), GEN)
        task = asyncio.ensure_future(batcher.submit("a", GREEDY))
        await asyncio.sleep(0.01)
        await asyncio.wait_for(batcher.stop(600), 60)
        with pytest.raises(StoppedError):
            await task

    asyncio.run(run())


def test_stopping_keeps_what_is_in_flight_and_refuses_the_rest() -> None:
    class Slow(Backend):
        async def generate(  # type: ignore[override]
            self, prompts: Sequence[Prompt], params: GenerationParams
        ) -> list[str]:
            await asyncio.sleep(0.05)
            return [str(p) for p in prompts]

    async def run() -> list[Any]:
        batcher = Batcher(Slow(), GEN)
        tasks = [asyncio.ensure_future(batcher.submit(p, GREEDY)) for p in ("a", "b")]
        await asyncio.sleep(0.01)
        await batcher.stop(5)
        results = await asyncio.gather(*tasks, return_exceptions=True)
        with pytest.raises(StoppedError):
            await batcher.submit("c", GREEDY)
        return results

    first, second = asyncio.run(run())
    assert first.completion == "a"
    assert isinstance(second, StoppedError)


class Blocking(Backend):
    """``slow`` is answered when it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()
        self.began = threading.Event()

    def generate(self, prompts: Sequence[Prompt], params: GenerationParams) -> list[str]:
        if prompts == ["slow"]:
            self.began.set()
            self.go.wait(60)
        return [str(prompt) for prompt in prompts]


def test_who_waits_for_a_call_that_was_left_behind_has_all_its_time() -> None:
    backend = Blocking()

    async def run() -> None:
        batcher = Batcher(backend, GEN)
        with pytest.raises(ModelError, match="no reply within"):
            await in_time(batcher.submit("slow", GREEDY), 0.05)
        deadline = Deadline(60)
        DEADLINES.set((deadline,))
        late = asyncio.ensure_future(batcher.submit("late", GREEDY))
        await asyncio.wait({late}, timeout=0.05)
        before = deadline.remaining
        await asyncio.wait({late}, timeout=0.05)
        assert deadline.remaining == before  # its clock stands still
        assert not late.done()
        backend.go.set()
        assert (await late).completion == "late"
        await batcher.stop(1)

    asyncio.run(run())


def test_calls_that_hang_are_waited_for_once() -> None:
    backend = Blocking()

    async def run() -> None:
        batcher = Batcher(backend, GEN)
        with pytest.raises(ModelError, match="no reply within"):
            await in_time(batcher.submit("slow", GREEDY), 0.01)
        for seconds in (0.01, 6000):  # the other one is not waited for
            with pytest.raises(ModelError, match="has not come back"):
                await in_time(batcher.submit("next", GREEDY), seconds)
        backend.go.set()
        while batcher._calls:
            await asyncio.sleep(0.01)
        assert (await batcher.submit("next", GREEDY)).completion == "next"
        await batcher.stop(1)

    asyncio.run(asyncio.wait_for(run(), 60))


def test_stopping_does_not_wait_for_ever_for_a_plain_function(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(batcher_module, "PLAIN_GRACE_SECONDS", 0.05)
    backend = Blocking()

    async def run() -> None:
        batcher = Batcher(backend, GEN)
        slow = asyncio.ensure_future(batcher.submit("slow", GREEDY))
        while not backend.began.is_set():
            await asyncio.sleep(0.01)
        await batcher.stop(1)
        with pytest.raises(StoppedError):
            await slow

    asyncio.run(asyncio.wait_for(run(), 60))
    backend.go.set()
