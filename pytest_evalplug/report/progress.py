"""Progress of a long run: a bar in a terminal, a line now and then in a CI log."""

from __future__ import annotations

__all__ = ["Progress"]

import shutil
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TextIO

import pytest

BAR_SECONDS = 0.1
LINE_SECONDS = 30.0
WIDTH = 20


class Progress:
    """Counts finished samples and says how far the run is.

    In a terminal a bar stands behind the cursor, where pytest's next letter overwrites it, and
    takes the place of the dots. Elsewhere the dots stay, and there is a line every 30 seconds.
    """

    def __init__(
        self,
        reporter: pytest.TerminalReporter,
        *,
        uncaptured: Callable[[], AbstractContextManager[None]] = nullcontext,
        tty: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._reporter = reporter
        self._uncaptured = uncaptured
        self._clock = clock
        self._tty = tty if tty is not None else _open_tty(reporter)
        # taken now: while an item runs, pytest's capture hides the terminal
        self._columns = shutil.get_terminal_size().columns
        self._at_start = False
        self.total = 0
        self.done = 0
        self.wrong = 0
        self.errors = 0
        self.ready: Callable[[], int] = lambda: 0
        """How many predictions are there, which may be ahead of the samples done."""
        self.column = 0
        """About where the cursor is."""
        self._start = self._last = clock()

    @property
    def interactive(self) -> bool:
        """Tell whether a bar is drawn."""
        return self._tty is not None

    def begin(self, total: int) -> None:
        """Start the clock for ``total`` samples."""
        self.total = total
        self._start = self._last = self._clock()

    def advance(self) -> None:
        """Count one finished sample, whose letter is on the screen now."""
        self.done += 1
        self._at_start = False
        self.tick()

    def tick(self) -> None:
        """Show the state if it is time to; called while an item waits, too."""
        now = self._clock()
        if not self.total or now - self._last < (BAR_SECONDS if self._tty else LINE_SECONDS):
            return
        self._last = now
        if self._tty is None:
            with self._uncaptured():  # a waiting item's output is being captured
                start = "" if self._at_start else "\n"
                self._reporter.write(f"{start}evalplug: {self._state(now)}\n", flush=True)
            self._at_start = True
        else:
            self._draw(self._tty, now)

    def clear(self) -> None:
        """Take the bar away: pytest is about to write."""
        if self._tty is not None:
            self._tty.write("\x1b[K")
            self._tty.flush()

    def close(self) -> None:
        """Take the bar away for good."""
        if self._tty is not None:
            self.clear()
            self._tty.close()
            self._tty = None

    def _draw(self, tty: TextIO, now: float) -> None:
        filled = WIDTH * self.done // max(1, self.total)
        bar = f" [{'#' * filled}{'.' * (WIDTH - filled)}] {self._state(now)}"
        room = self._columns - self.column - 10
        if room > WIDTH:
            bar = bar[:room]
            tty.write(f"\x1b[K{bar}\x1b[{len(bar)}D")
            tty.flush()

    def _state(self, now: float) -> str:
        ready = max(self.done, min(self.ready(), self.total))
        elapsed = now - self._start
        parts = [f"{self.done}/{self.total} samples"]
        if ready > self.done:
            parts.append(f"{ready} predicted")
        if ready and elapsed > 0:
            rate = ready / elapsed
            parts += [f"{rate:.1f}/s", f"{_duration((self.total - ready) / rate)} left"]
        if self.wrong:
            parts.append(f"{self.wrong} wrong")
        if self.errors:
            parts.append(f"{self.errors} errors")
        return ", ".join(parts)


def _open_tty(reporter: pytest.TerminalReporter) -> TextIO | None:
    """Return the terminal itself, past pytest's capture, or None where there is none."""
    if not reporter.isatty or reporter.verbosity != 0:
        return None
    try:
        return open("/dev/tty", "w", encoding="utf-8")
    except OSError:
        return None


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
