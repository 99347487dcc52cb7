from __future__ import annotations

import io
import re
from typing import Any

import pytest

from pytest_evalplug.report.progress import Progress


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


class Reporter:
    """The terminal reporter's part that a line in a log needs."""

    isatty = False
    verbosity = 0

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str, flush: bool = False) -> None:
        self.text += text


@pytest.fixture
def clock() -> Clock:
    return Clock()


def make(clock: Clock, tty: io.StringIO | None = None) -> tuple[Any, Reporter]:
    reporter: Any = Reporter()
    return Progress(reporter, tty=tty, clock=clock), reporter


def shown(text: str) -> str:
    """Return text without a terminal's control sequences."""
    return re.sub(r"\x1b\[\d*[A-Z]", "", text)


def test_a_log_gets_a_line_every_30_seconds(clock: Clock) -> None:
    progress, reporter = make(clock)
    progress.begin(200)
    for _ in range(100):
        clock.now += 0.5
        progress.advance()
    assert reporter.text == "\nevalplug: 60/200 samples, 2.0/s, 1:10 left\n"
    progress.wrong, progress.errors = 3, 2
    clock.now += 30
    progress.tick()
    last = reporter.text.splitlines()[-1]
    assert last == "evalplug: 100/200 samples, 1.2/s, 1:20 left, 3 wrong, 2 errors"


def test_a_short_run_gets_no_line(clock: Clock) -> None:
    progress, reporter = make(clock)
    progress.begin(10)
    for _ in range(10):
        clock.now += 1
        progress.advance()
    assert reporter.text == ""


def test_time_left_counts_what_the_model_has_answered(clock: Clock) -> None:
    progress, reporter = make(clock)
    progress.begin(4000)
    progress.ready = lambda: 100
    clock.now += 100
    progress.advance()
    assert reporter.text == "\nevalplug: 1/4000 samples, 100 predicted, 1.0/s, 1:05:00 left\n"


def test_nothing_before_the_first_prediction_is_guessed(clock: Clock) -> None:
    progress, reporter = make(clock)
    progress.begin(5)
    clock.now += 60
    progress.tick()
    assert reporter.text == "\nevalplug: 0/5 samples\n"


def test_lines_without_a_letter_between_them_have_no_gap(clock: Clock) -> None:
    progress, reporter = make(clock)
    progress.begin(5)
    for _ in range(2):
        clock.now += 60
        progress.tick()
    assert reporter.text == "\nevalplug: 0/5 samples\nevalplug: 0/5 samples\n"


def test_a_terminal_gets_a_bar_behind_the_cursor(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    tty = io.StringIO()
    progress, reporter = make(clock, tty)
    assert progress.interactive
    progress.begin(4)
    clock.now += 1
    progress.advance()
    bar = " [#####...............] 1/4 samples, 1.0/s, 0:03 left"
    assert tty.getvalue() == f"\x1b[K{bar}\x1b[{len(bar)}D"  # the cursor is where it was
    clock.now += 0.05
    progress.advance()
    assert tty.getvalue().count("#####") == 1  # ten times a second at most
    clock.now += 0.06
    progress.tick()
    assert "[##########..........] 2/4 samples" in tty.getvalue()
    progress.clear()
    assert tty.getvalue().endswith("\x1b[K")
    assert reporter.text == ""
    progress.close()
    assert not progress.interactive
    assert tty.closed


@pytest.mark.parametrize(("columns", "least", "most"), [("60", 21, 40), ("20", 0, 0)])
def test_a_bar_never_wraps(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, columns: str, least: int, most: int
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    tty = io.StringIO()
    progress, _ = make(clock, tty)
    progress.column = 10
    progress.begin(1000)
    clock.now += 1
    progress.advance()
    assert least <= len(shown(tty.getvalue())) <= most


def test_a_run_of_nothing_shows_nothing(clock: Clock) -> None:
    progress, reporter = make(clock)
    clock.now += 100
    progress.tick()
    assert reporter.text == ""
