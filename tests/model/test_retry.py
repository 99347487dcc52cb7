from __future__ import annotations

import math
import os
import time
from email.utils import formatdate
from pathlib import Path

import pytest

from pytest_evalplug.model.retry import (
    Circuit,
    Failure,
    FailureKind,
    RetryPolicy,
    retry_after_seconds,
)

BUSY, SERVER = Failure("busy", ""), Failure("server", "")


def delays(policy: RetryPolicy, failure: Failure, *, answered: bool = True) -> list[float]:
    taken: list[float] = []
    while (delay := policy.delay(failure, len(taken), answered=answered)) is not None:
        taken.append(delay)
    return taken


class TestDelay:
    def test_doubles_with_jitter(self) -> None:
        for _ in range(20):
            taken = delays(RetryPolicy(), SERVER)
            assert len(taken) == 5
            for delay, middle in zip(taken, (0.5, 1, 2, 4, 8), strict=True):
                assert 0.75 * middle <= delay <= 1.25 * middle
        assert len({delays(RetryPolicy(), SERVER)[0] for _ in range(20)}) > 10

    def test_rate_limits_outlast_a_minute(self) -> None:
        least = sum(0.75 * 2.0 * 2**n for n in range(5))
        assert least >= 45
        assert sum(delays(RetryPolicy(), BUSY)) >= least

    def test_never_longer_than_the_longest(self) -> None:
        assert max(delays(RetryPolicy(max_retries=20), BUSY)) <= 1.25 * 60

    @pytest.mark.parametrize("kind", ["rejected", "too_long", "forbidden", "fatal"])
    def test_what_stays_wrong_is_not_retried(self, kind: FailureKind) -> None:
        assert delays(RetryPolicy(), Failure(kind, "")) == []

    def test_an_unknown_path_is_tried_again_if_it_was_known_before(self) -> None:
        assert delays(RetryPolicy(), Failure("no_model", ""), answered=False) == []
        assert len(delays(RetryPolicy(), Failure("no_model", ""))) == 5

    def test_no_retries_means_none(self) -> None:
        for kind in ("busy", "server", "timeout", "refused"):
            assert delays(RetryPolicy(max_retries=0), Failure(kind, "")) == []

    def test_timeouts_get_two_more_chances(self) -> None:
        assert len(delays(RetryPolicy(), Failure("timeout", ""))) == 2

    def test_a_server_that_never_came_up_is_given_up_soon(self) -> None:
        refused = Failure("refused", "")
        assert sum(delays(RetryPolicy(), refused, answered=False)) < 1
        assert sum(delays(RetryPolicy(), refused, answered=True)) > 10

    def test_retry_after_is_a_lower_bound(self) -> None:
        for attempt in range(5):
            delay = RetryPolicy().delay(Failure("busy", "", 7.0), attempt, answered=True)
            assert delay is not None
            assert 7.0 <= delay <= 7.0 + 0.25 * 2.0 * 2**attempt

    def test_retry_after_of_an_hour_is_not_waited_for(self) -> None:
        assert delays(RetryPolicy(), Failure("busy", "", 3600.0)) == []


class TestCircuit:
    def test_opens_after_failures_in_a_row(self) -> None:
        circuit = Circuit(3)
        assert [circuit.failure(SERVER) for _ in range(3)] == [False, False, True]

    def test_a_reply_starts_the_count_anew(self) -> None:
        circuit = Circuit(3)
        for _ in range(5):
            assert not circuit.failure(SERVER)
            assert not circuit.failure(BUSY)
            circuit.success()

    def test_rejections_count_only_if_nothing_was_ever_answered(self) -> None:
        rejected = Failure("rejected", "")
        assert [(fresh := Circuit(2)).failure(rejected), fresh.failure(rejected)] == [False, True]
        proven = Circuit(2)
        proven.success()
        assert not any(proven.failure(rejected) for _ in range(10))

    def test_what_other_processes_were_answered_counts(self, tmp_path: Path) -> None:
        mark = tmp_path / "new" / "m.answered"
        here, there, lone = Circuit(3), Circuit(3), Circuit(3)
        here.share(mark)
        there.share(mark)
        assert not there.answered
        here.success()
        assert (here.answered, there.answered, lone.answered) == (True, True, False)

    def test_that_an_earlier_run_was_answered_says_nothing(self, tmp_path: Path) -> None:
        mark = tmp_path / "m.answered"
        mark.touch()
        os.utime(mark, (0, 0))
        circuit = Circuit(3)
        circuit.share(mark)
        assert not circuit.answered
        circuit.success()
        other = Circuit(3)
        other.share(mark)
        assert other.answered


class TestRetryAfter:
    @pytest.mark.parametrize(
        ("headers", "seconds"),
        [
            ({}, None),
            ({"retry-after": "3"}, 3.0),
            ({"retry-after": "0.5"}, 0.5),
            ({"retry-after": "-1"}, 0.0),
            ({"retry-after": "inf"}, math.inf),
            ({"retry-after": "nan"}, None),
            ({"retry-after": "1e400"}, math.inf),
            ({"retry-after": "Wed, 99 Oct 99999 07:28:00 GMT"}, None),
            ({"retry-after-ms": "nan", "retry-after": "9"}, 9.0),
            ({"retry-after": "soon"}, None),
            ({"retry-after": ""}, None),
            ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
            ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ],
    )
    def test_forms(self, headers: dict[str, str], seconds: float | None) -> None:
        assert retry_after_seconds(headers) == seconds

    def test_a_date(self) -> None:
        date = formatdate(time.time() + 30, usegmt=True)
        seconds = retry_after_seconds({"retry-after": date})
        assert seconds == pytest.approx(30, abs=2)
