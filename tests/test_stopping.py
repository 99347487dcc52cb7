from __future__ import annotations

import signal
from collections.abc import Iterator
from types import FrameType

import pytest

from pytest_evalplug.stopping import Signals

TERM = signal.SIGTERM


@pytest.fixture(autouse=True)
def usual() -> Iterator[None]:
    before = signal.signal(TERM, signal.SIG_DFL)
    yield
    signal.signal(TERM, before)


def interrupted() -> bool:
    try:
        signal.raise_signal(TERM)
    except KeyboardInterrupt:
        return True
    return False


def test_what_was_swallowed_does_not_count() -> None:
    seconds: list[int] = []

    def second() -> bool:
        seconds.append(1)
        return True

    signals = Signals(second)
    assert interrupted()
    signals.forget()
    assert interrupted()
    assert not seconds
    assert not interrupted()
    assert seconds == [1]
    assert interrupted()  # the third says it again
    signals.undo()
    assert signal.getsignal(TERM) == signal.SIG_DFL


def test_who_has_a_handler_of_their_own_keeps_it() -> None:
    def own(number: int, frame: FrameType | None) -> None: ...

    signals = Signals(lambda: False)
    signal.signal(TERM, own)
    signals.undo()
    assert signal.getsignal(TERM) is own
    Signals(lambda: False).undo()
    assert signal.getsignal(TERM) is own
