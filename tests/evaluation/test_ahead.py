from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from pytest_evalplug.errors import EvalplugError
from pytest_evalplug.evaluation import ahead
from pytest_evalplug.evaluation.ahead import ScoringAhead
from pytest_evalplug.evaluation.waiting import cancel_waiting, wait_for
from pytest_evalplug.types import Detail

RECORD: dict[str, Any] = {"prediction": "x"}


def detail(case: int, model: str = "m", record: Any = None) -> Detail:
    return Detail(str(case), str(case), "s")


def test_each_prediction_is_scored_once_and_kept_until_it_is_forgotten() -> None:
    scored: list[int] = []

    def score(case: int, model: str, record: Any) -> Detail:
        scored.append(case)
        return detail(case)

    scores = ScoringAhead(score)
    threads = [threading.Thread(target=scores.begin, args=(1, "m", RECORD)) for _ in range(20)]
    for thread in threads:
        thread.start()
    assert scores.take(1, "m", RECORD).index == "1"
    assert scores.take(1, "m", RECORD).index == "1"
    assert scored == [1]
    scores.forget(1)
    scores.take(1, "m", RECORD)
    assert scored == [1, 1]
    scores.close()


def test_as_many_at_once_as_there_are_threads() -> None:
    together = threading.Barrier(4)

    def score(case: int, model: str, record: Any) -> Detail:
        together.wait(10)  # broken unless four are here
        return detail(case)

    scores = ScoringAhead(score)
    scores.threads = 4
    for case in range(8):
        scores.begin(case, "m", RECORD)
    assert [scores.take(case, "m", RECORD).index for case in range(8)] == [*"01234567"]
    assert scores._running == 4
    scores.close()


def test_what_scoring_raises_is_the_items() -> None:
    def score(case: int, model: str, record: Any) -> Detail:
        raise TimeoutError("its own")

    with pytest.raises(TimeoutError, match="its own"):
        ScoringAhead(score).take(1, "m", RECORD)


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(3)])
def test_what_scoring_raises_does_not_end_the_session(error: BaseException) -> None:
    def score(case: int, model: str, record: Any) -> Detail:
        raise error

    with pytest.raises(RuntimeError, match=f"{type(error).__name__}: 3"):
        ScoringAhead(score).take(1, "m", RECORD)


def test_ticks_while_it_waits() -> None:
    ticks: list[int] = []

    def score(case: int, model: str, record: Any) -> Detail:
        time.sleep(0.7)
        return detail(case)

    scores = ScoringAhead(score)
    scores.take(1, "m", RECORD, lambda: ticks.append(1))
    assert ticks


def test_saved_predictions_are_followed_within_the_depth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "DEPTH", 3)
    read: list[int] = []

    def record_of(case: int) -> dict[str, Any]:
        read.append(case)
        if case == 1:
            raise EvalplugError("lost")
        return RECORD

    scores = ScoringAhead(detail)
    scores.follow("a", range(6), record_of)
    scores.follow("b", range(10, 12), record_of)
    assert read == [0, 1, 2, 3]
    for case in (0, 2, 3, 4, 5, 10, 11):
        scores.take(case, "m", RECORD)
        scores.forget(case)
    assert read == [0, 1, 2, 3, 4, 5, 10, 11]


@pytest.fixture
def waiting() -> Iterator[ScoringAhead[int]]:
    def score(case: int, model: str, record: Any) -> Detail:
        wait_for(asyncio.sleep(60))
        return detail(case)

    scores: ScoringAhead[int] = ScoringAhead(score)
    scores.threads = 2
    for case in range(4):
        scores.begin(case, "m", RECORD)
    yield scores
    scores.close()


def test_closing_cancels_what_waits(waiting: ScoringAhead[int]) -> None:
    time.sleep(0.2)
    start = time.monotonic()
    waiting.close()
    for case in range(5):  # the last one was never begun
        with pytest.raises(BaseException, match=r"^$") as error:
            waiting.take(case, "m", RECORD)
        assert "Cancelled" in type(error.value).__name__
    assert time.monotonic() - start < 30


def test_a_process_can_end_while_a_score_blocks() -> None:
    program = """
import time
from pytest_evalplug.evaluation.ahead import ScoringAhead
scores = ScoringAhead(lambda *_: time.sleep(60))
scores.begin(1, "m", {})
time.sleep(0.2)
scores.close()
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=30)


def test_a_loop_does_not_wait_for_itself() -> None:
    async def outer() -> None:
        wait_for(asyncio.sleep(0))

    with pytest.raises(EvalplugError, match="Await it instead"):
        wait_for(outer())


def test_one_loop_for_all_threads() -> None:
    loops = set()

    async def loop() -> None:
        loops.add(asyncio.get_running_loop())

    threads = [threading.Thread(target=lambda: wait_for(loop())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(loops) == 1
    cancel_waiting()  # nothing is left to cancel


def test_what_leaves_the_process_does_not_end_the_loop() -> None:
    async def leaving() -> None:
        raise SystemExit(3)

    async def gathering() -> None:  # in a task that is not ours
        await asyncio.gather(leaving(), asyncio.sleep(60))

    for work in (leaving, gathering):
        with pytest.raises(SystemExit):
            wait_for(work())
    wait_for(asyncio.sleep(0))
