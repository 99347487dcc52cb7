"""HumanEval and MBPP: the data's own solutions pass, in the sandbox.

One in twelve, beyond those that tests/evaluation/evaluators/test_code.py takes; all of them, one of
which works for a quarter of a minute, with EVALPLUG_SLOW.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import pytest

from pytest_evalplug.dataset.adapter import DefaultDataAdapter
from pytest_evalplug.types import Detail, Sample

Make: TypeAlias = Callable[..., DefaultDataAdapter]
Shipped: TypeAlias = dict[str, type[DefaultDataAdapter]]

CHOSEN = slice(None) if os.environ.get("EVALPLUG_SLOW") else slice(50, None, 12)


def failures(adapter: DefaultDataAdapter, samples: Sequence[Sample]) -> list[str]:
    """Return which of the data's solutions fail; two run at the same time."""
    (evaluator,) = adapter.scorer.config.evaluators

    async def run(sample: Sample, free: asyncio.Semaphore) -> str:
        async with free:
            found: dict[str, Any] = await evaluator.score_sample(sample.target, sample)
        return "" if found["correct"] else f"{sample.id}: {found['status']}, {found['reason']}"

    async def every() -> list[str]:
        free = asyncio.Semaphore(2)
        return list(filter(None, await asyncio.gather(*(run(s, free) for s in samples))))

    return asyncio.run(every())


@pytest.mark.parametrize(("name", "subset"), [("humaneval", "default"), ("mbpp", "full")])
def test_solutions_pass(name: str, subset: str, make: Make) -> None:
    adapter = make(name)
    assert failures(adapter, adapter.samples(subset)[CHOSEN]) == []


def test_humaneval_solutions_are_not_cut_short(make: Make) -> None:
    adapter = make("humaneval")
    stops = adapter.generation["stop"]
    for sample in adapter.samples("default"):
        assert not any(stop in sample.target for stop in stops), sample.id


def test_a_program_ends_with_its_function(make: Make) -> None:
    adapter = make("humaneval")
    sample = adapter.samples("default")[0]
    (evaluator,) = adapter.scorer.config.evaluators
    reply = f"{sample.target}\n# Test it\nraise SystemExit\n"
    found = asyncio.run(evaluator.score_sample(reply, sample))
    assert (found["correct"], "SystemExit" in found["pred"]) == (True, False)


def test_a_solution_may_come_as_a_chat_has_it(make: Make) -> None:
    adapter = make("humaneval_chat")
    sample = adapter.samples("default")[32]  # a helper stands in its prompt
    (evaluator,) = adapter.scorer.config.evaluators
    fenced = f"Here it is:\n```python\n{sample.input}{sample.target}```\nIt bisects."
    for reply, right in ((fenced, True), ("I'd rather not.", False)):
        assert asyncio.run(evaluator.score_sample(reply, sample))["correct"] is right


@pytest.mark.parametrize("name", ["humaneval", "mbpp"])
def test_pass_at_k_comes_from_repeats(name: str, shipped: Shipped) -> None:
    cls = shipped[name]
    meta = cls.__evalplug_meta__.override({"repeats": 4, "k": [1, 2]})
    adapter = cls(benchmark_meta=meta)
    adapter.row_count = lambda subset: 2  # type: ignore[method-assign]
    right = {0: 2, 1: 0}  # of four replies to each of two samples
    details = [
        Detail(
            index=str(row + 2 * repeat),
            sample_id=f"{row}",
            subset="s",
            pred="-",
            correct=repeat < right[row],
            score={"pass@1": float(repeat < right[row])},
        )
        for repeat in range(4)
        for row in right
    ]
    records = [{"prediction": ""} for _ in details]
    found = {s.metric: s.value for s in adapter.scorer.aggregate("s", details, records, repeats=4)}
    assert found["pass@1"] == pytest.approx(25)
    assert found["pass@2"] == pytest.approx(100 * (1 - 1 / 6) / 2)


@pytest.mark.parametrize(("name", "subset"), [("humaneval", "default"), ("mbpp", "full")])
@pytest.mark.parametrize("reply", ["", "I cannot help with that."])
def test_no_program_is_wrong(reply: str, name: str, subset: str, make: Make) -> None:
    adapter = make(name)
    (evaluator,) = adapter.scorer.config.evaluators
    for sample in adapter.samples(subset):
        found = asyncio.run(evaluator.score_sample(reply, sample))
        assert (found["correct"], found["status"]) == (False, "error"), sample.id
