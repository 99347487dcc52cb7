from __future__ import annotations

import threading
from collections.abc import Iterator

from pytest_evalplug.doctor.check import Check, Group, examine, ok, problem, warn
from pytest_evalplug.errors import ConfigError


def test_groups_are_looked_at_together_and_told_in_order() -> None:
    second_begun = threading.Event()

    def first() -> Iterator[Check]:
        assert second_begun.wait(30), "the second group waits for the first"
        yield ok("a", "1")
        yield warn("a", "2", "do")

    def second() -> Iterator[Check]:
        second_begun.set()
        yield problem("b", "3")

    checks = examine([Group("a", first, 60), Group("b", second, 60)])
    assert checks == [ok("a", "1"), warn("a", "2", "do"), problem("b", "3")]


def test_what_does_not_come_back_is_left_behind() -> None:
    released = threading.Event()

    def hangs() -> Iterator[Check]:
        released.wait()
        yield ok("a", "late")

    try:
        [check, other] = examine(
            [Group("a", hangs, 0.05), Group("b", lambda: [ok("b", "fine")], 60)]
        )
        assert (check.name, check.state, check.text) == ("a", "warn", "no answer within 0.05 s")
        assert other == ok("b", "fine")
    finally:
        released.set()


def test_a_check_that_fails_is_a_line_of_its_own() -> None:
    def breaks() -> Iterator[Check]:
        yield ok("a", "lost")
        raise OSError("stale\nhandle")

    def says() -> Iterator[Check]:
        raise ConfigError("no table", where="model m (http://h)", fix="Write one")

    assert examine([Group("a", breaks), Group("model m", says)]) == [
        problem("a", "can't be checked: OSError: stale handle"),
        problem("model m", "(http://h): no table", "Write one"),
    ]
