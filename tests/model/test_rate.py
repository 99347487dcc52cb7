from __future__ import annotations

import asyncio
import errno
import itertools
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalplug.errors import StorageError
from pytest_evalplug.model.rate import RateLimiter, Window, estimated_tokens
from pytest_evalplug.model.shared import State

MINUTE = 60.0


def most_in_a_window(sent: list[tuple[float, float]], length: float) -> float:
    """Return the largest sum of amounts that a window of this length has, both ends in it."""
    return max(sum(n for t, n in sent if start <= t <= start + length) for start, _ in sent)


@given(
    limit=st.integers(1, 40),
    pauses=st.lists(st.sampled_from([0.0, 0.0, 0.3, 2.0, 45.0, 61.0]), min_size=1, max_size=60),
    late=st.floats(0, 0.4),
)
def test_no_minute_has_more_requests_than_the_limit(
    limit: int, pauses: list[float], late: float
) -> None:
    window, state = Window(limit, MINUTE, max(1.0, limit / 20)), State()
    now, sent = 1000.0, []
    for number, pause in enumerate(pauses):
        now += pause
        while wait := window.wait(state, now, 1):
            now += wait
        window.take(state, now, 1)
        sent.append((now + (late if number % 2 else 0), 1.0))  # some are on their way for longer
    assert most_in_a_window(sent, MINUTE) <= limit


@given(
    requests=st.lists(
        st.tuples(st.integers(1, 60), st.floats(0, 1), st.floats(0, 70)), min_size=1, max_size=40
    )
)
def test_no_minute_has_more_tokens_than_the_limit(
    requests: list[tuple[int, float, float]],
) -> None:
    """Whatever was estimated too high is given back; what was sent counts where it was sent."""
    limit = 100
    window, state = Window(limit, MINUTE, limit / 10), State()
    now = 0.0
    sent: list[tuple[float, float]] = []
    open_: list[tuple[float, int, int]] = []
    for estimate, share, seconds in requests:
        while wait := window.wait(state, now, estimate):
            due = sorted(o for o in open_ if o[0] <= now + wait)
            if due:  # a reply comes first
                now = max(now, due[0][0])
                open_.remove(due[0])
                window.correct(state, now, due[0][1], due[0][2])
            else:
                now += wait
        slot = window.take(state, now, estimate)
        used = int(estimate * share)
        sent.append((now, float(used)))
        open_.append((now + seconds, slot, used - estimate))
    assert most_in_a_window(sent, MINUTE) <= limit


def test_a_fresh_minute_begins_with_a_small_burst_and_goes_on_evenly() -> None:
    window, state = Window(60, MINUTE, 3), State()
    now, sent = 0.0, []
    while now < 3 * MINUTE:
        while wait := window.wait(state, now, 1):
            now += wait
        window.take(state, now, 1)
        sent.append(now)
    assert sum(t < 0.5 for t in sent) == 3
    steady = [later - t for t, later in itertools.pairwise(sent[3:])]
    assert max(steady) < 3.5  # seconds; where the burst has to leave the minute first
    assert sorted(steady)[len(steady) // 2] == pytest.approx(1, abs=0.05)
    assert len(sent) > 3 * 60 * 0.96  # nothing of the limit is wasted


def test_more_than_the_limit_goes_alone() -> None:
    window, state = Window(100, MINUTE, 10), State()
    assert window.wait(state, 0.0, 250) == 0
    window.take(state, 0.0, 250)
    wait = window.wait(state, 0.0, 1)
    assert wait > MINUTE
    assert window.wait(state, wait, 1) == 0


def test_what_was_kept_before_the_machine_was_started_again_does_not_count() -> None:
    window, state = Window(1, MINUTE, 1), State()
    window.wait(state, 9_000_000.0, 1)
    window.take(state, 9_000_000.0, 1)
    assert window.wait(state, 9_000_000.0, 1) > 0
    assert window.wait(state, 30.0, 1) == 0


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_limit_is_that_of_all_who_name_the_file(tmp_path: Path) -> None:
    clock = Clock()
    limiters = [RateLimiter(2, None, clock=clock) for _ in range(3)]
    for limiter in limiters[:2]:
        limiter.share(tmp_path / "limits" / "m.json")

    async def scenario() -> list[bool]:
        clock.now = 100.0
        await limiters[0].admit({})
        clock.now = 140.0
        await limiters[1].admit({})
        done = []
        for limiter in limiters:
            task = asyncio.ensure_future(limiter.admit({}))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            done.append(task.done())
            task.cancel()
        return done

    assert asyncio.run(scenario()) == [False, False, True]


def test_nothing_is_admitted_while_the_server_wants_nothing() -> None:
    limiter = RateLimiter(1, None)

    async def scenario() -> None:
        waiting = asyncio.ensure_future(limiter.admit({}, asyncio.Event().wait))
        for _ in range(5):
            await asyncio.sleep(0)
        assert not waiting.done()
        waiting.cancel()
        await asyncio.wait_for(limiter.admit({}), 10)  # the one of this minute is still there

    asyncio.run(scenario())


@pytest.mark.parametrize("damage", ["", "{", "[]", "\xff"])
def test_a_file_that_cannot_be_read_is_a_new_one(tmp_path: Path, damage: str) -> None:
    file = tmp_path / "m.json"
    file.write_text(damage)
    limiter = RateLimiter(2, 100)
    limiter.share(file)
    asyncio.run(limiter.admit({"prompt": "a", "max_tokens": 5}))
    assert json.loads(file.read_text())["requests"]["slots"]


def test_usage_corrects_the_estimate() -> None:
    clock = Clock()
    limiter = RateLimiter(None, 1000, clock=clock)

    async def scenario() -> None:
        for _ in range(50):  # each of them estimated at 540
            clock.now += 1
            admission = await limiter.admit({"prompt": "", "max_tokens": 500})
            assert admission.tokens == 540
            await limiter.settle(admission, {"prompt_tokens": 1, "completion_tokens": 1})

    asyncio.run(asyncio.wait_for(scenario(), 10))


def test_a_full_disk_stops_requests_not_replies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, text: str) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    async def scenario() -> None:
        limiter = RateLimiter(None, 1000)
        limiter.share(tmp_path / "m.json")
        admission = await limiter.admit({"prompt": "a"})
        monkeypatch.setattr("pytest_evalplug.model.shared._replace", full)
        await limiter.settle(admission, {"prompt_tokens": 1, "completion_tokens": 1})
        with pytest.raises(StorageError, match="No space left"):
            await limiter.admit({"prompt": "a"})

    asyncio.run(scenario())


def test_the_estimate_is_above_what_tokenizers_make_of_it() -> None:
    english = "The quick brown fox jumps over the lazy dog. " * 20
    body = {"messages": [{"role": "user", "content": english}], "max_tokens": 7}
    assert 7 + 200 < estimated_tokens(body) < 7 + 600
    assert estimated_tokens({"prompt": "", "max_completion_tokens": 9}) == 49
