from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pytest_evalplug.errors import ModelError
from pytest_evalplug.inference.timing import in_time
from pytest_evalplug.model.deadline import DEADLINES, clocks_stopped


def test_a_clock_that_stands_just_before_its_end_is_not_watched_all_the_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks: list[float] = []
    wait = asyncio.wait

    async def counted(*args: Any, timeout: float) -> Any:
        looks.append(timeout)
        return await wait(*args, timeout=timeout)

    async def work() -> None:
        (deadline,) = DEADLINES.get()
        with clocks_stopped():
            deadline._left = 0.0005
            await asyncio.sleep(0.1)

    monkeypatch.setattr(asyncio, "wait", counted)
    asyncio.run(in_time(work(), 60.0))
    assert len(looks) < 10


def test_what_takes_too_long_is_cancelled() -> None:
    async def scenario() -> None:
        work = asyncio.Event()
        with pytest.raises(ModelError, match=r"no reply within 0.01 s"):
            await in_time(work.wait(), 0.01)

    asyncio.run(scenario())
