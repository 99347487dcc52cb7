"""A check's result, and how checks are run: at once, each with its time, none can hang or break."""

from __future__ import annotations

__all__ = ["Check", "Group", "examine", "of_error", "ok", "problem", "warn"]

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from pytest_evalplug.errors import EvalplugError, one_line

State = Literal["ok", "warn", "problem"]


@dataclass(frozen=True, slots=True)
class Check:
    """One line: what was checked, how it is, and what to do about it.

    ``problem``: an evaluation that needs it does not run. ``warn``: it may be meant.
    """

    name: str
    state: State
    text: str
    fix: str = ""


def ok(name: str, text: str) -> Check:
    """Return a check with nothing to do."""
    return Check(name, "ok", text)


def warn(name: str, text: str, fix: str) -> Check:
    """Return a check that may matter."""
    return Check(name, "warn", text, fix)


def problem(name: str, text: str, fix: str = "") -> Check:
    """Return a check that says what does not work."""
    return Check(name, "problem", text, fix)


class Group(NamedTuple):
    """What gives some checks; ``seconds`` is how long that may take."""

    name: str
    check: Callable[[], Iterable[Check]]
    seconds: float = 10.0


def examine(groups: Sequence[Group]) -> list[Check]:
    """Return the checks of all groups, in their order.

    Every group has a thread of its own, which is left behind where it does not come back: a
    name server, a file system or a driver may never answer.
    """
    found: list[list[Check] | None] = [None] * len(groups)

    def check(place: int, group: Group) -> None:
        try:
            found[place] = list(group.check())
        except EvalplugError as error:
            found[place] = [of_error(group.name, error)]
        except Exception as error:
            found[place] = [problem(group.name, f"can't be checked: {one_line(error)}")]

    begin = time.monotonic()
    threads = [
        threading.Thread(target=check, args=(place, group), daemon=True)
        for place, group in enumerate(groups)
    ]
    for thread in threads:
        thread.start()
    for thread, group in zip(threads, groups, strict=True):
        thread.join(max(0.0, begin + group.seconds - time.monotonic()))
    return [
        check
        for group, checks in zip(groups, list(found), strict=True)
        for check in (checks if checks is not None else [_unanswered(group)])
    ]


def of_error(name: str, error: EvalplugError) -> Check:
    """Return an error that says what to do as a problem."""
    where = error.where.removeprefix(name).strip()
    return problem(name, f"{where}: {error.what}" if where else error.what, error.fix)


def _unanswered(group: Group) -> Check:
    return warn(group.name, f"no answer within {group.seconds:g} s", "Check it by hand")
