"""When to ask again, how long to wait, and when to stop asking altogether."""

from __future__ import annotations

__all__ = ["Circuit", "Failure", "FailureKind", "RetryPolicy", "retry_after_seconds"]

import contextlib
import math
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Literal, TypeAlias

FailureKind: TypeAlias = Literal[
    "busy",  # 429, 529: slow down
    "server",  # 5xx, a broken connection, a malformed reply
    "timeout",
    "refused",  # nobody listens
    "rejected",  # this request is not acceptable; the same again would not be either
    "too_long",  # the prompt does not fit the context
    "no_model",  # the path or the model is unknown; before a server's first reply at least
    "forbidden",  # 403: this key, or just this prompt
    "fatal",  # no request can succeed: wrong key, no credit, a redirect
]


@dataclass(frozen=True, slots=True)
class Failure:
    """Why one request failed; ``retry_after`` is in seconds, where the server named it."""

    kind: FailureKind
    text: str
    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Exponential backoff with jitter, in seconds.

    Rate limits are mostly per minute: a first pause of 2 s doubled five times covers one. A
    request that timed out is likely to do so again, so it gets two more chances only; a server
    that never answered is given up after ``2 * quick`` seconds or so.
    """

    max_retries: int = 5
    base: float = 0.5
    busy_base: float = 2.0
    quick: float = 0.25
    longest: float = 60.0
    longest_retry_after: float = 300.0
    _random: random.Random = field(default_factory=random.Random, repr=False, compare=False)

    def delay(self, failure: Failure, attempt: int, *, answered: bool) -> float | None:
        """Return how long to wait after failed try number ``attempt`` (from 0), or None to stop.

        ``answered`` tells whether this server has ever given a reply. ``Retry-After`` is obeyed;
        a share of the backoff is added so that the waiting requests don't all come at once.
        """
        never_came_up = failure.kind == "refused" and not answered
        few = failure.kind == "timeout" or never_came_up
        if attempt >= (min(2, self.max_retries) if few else self.max_retries):
            return None
        base = {"busy": self.busy_base, "server": self.base, "timeout": self.base}
        if answered:  # what stands before a server that restarts says 404
            base["no_model"] = self.base
        if failure.kind == "refused":
            backoff = self.quick if never_came_up else self.base * 2**attempt
        elif failure.kind in base:
            backoff = base[failure.kind] * 2**attempt
        else:
            return None
        backoff = min(backoff, self.longest)
        if failure.retry_after is None:
            return backoff * self._random.uniform(0.75, 1.25)
        if failure.retry_after > self.longest_retry_after:
            return None
        return failure.retry_after + backoff * self._random.uniform(0.0, 0.25)


_START_SECONDS = 60.0
"""Within these all processes of a run start."""


class Circuit:
    """Opens when the endpoint is plainly of no use; then no further request is sent.

    It opens after ``limit`` samples in a row got no reply although each was tried again, or
    after ``limit`` rejected requests if nothing else was ever answered (a wrong parameter, say).
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._down = 0
        self._rejected = 0
        self._answered = False
        self._mark: Path | None = None
        self._created = time.time()

    def share(self, mark: Path) -> None:
        """Know of replies to other processes of the run too: ``mark`` is a file that says so."""
        self._mark = mark

    @property
    def answered(self) -> bool:
        """Has the server ever given a reply?"""
        if not self._answered and self._mark is not None:
            with contextlib.suppress(OSError):
                # an older one is of a run before this one, and of how things were then
                self._answered = self._mark.stat().st_mtime > self._created - _START_SECONDS
        return self._answered

    def success(self) -> None:
        """Note a reply."""
        self._down = self._rejected = 0
        if self.answered:
            return
        self._answered = True
        if self._mark is not None:
            with contextlib.suppress(OSError):
                self._mark.parent.mkdir(parents=True, exist_ok=True)
                self._mark.touch()

    def failure(self, failure: Failure) -> bool:
        """Note a sample that got no reply; return whether that was one too many."""
        if failure.kind == "rejected":
            self._rejected += 1
            return not self.answered and self._rejected >= self._limit
        self._down += 1
        return self._down >= self._limit


def retry_after_seconds(headers: Mapping[str, str]) -> float | None:
    """Read ``Retry-After`` (seconds or a date, RFC 9110 section 10.2.3) or ``retry-after-ms``."""
    for name, scale in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        with contextlib.suppress(KeyError, ValueError):
            seconds = float(headers[name]) / scale
            if not math.isnan(seconds):
                return max(0.0, seconds)
    try:
        date = parsedate_to_datetime(headers["retry-after"])
        return max(0.0, date.timestamp() - time.time())
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
