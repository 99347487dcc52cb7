"""A run that is told to stop ends in order: at Ctrl-C, at SIGTERM, and workers without a parent.

Slurm and Kubernetes send SIGTERM, and kill half a minute later.
"""

from __future__ import annotations

__all__ = ["Signals", "follow_controller", "forget_stop", "tell_workers"]

import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

LAST_SECONDS = 8.0
"""How long a worker may take to end when its controller has gone: it keeps what arrives."""
_LOOK_SECONDS = 0.2
_STOP, _STOP_NOW = ".stop", ".stop-now"
"""In the run's journal folder: the controller was interrupted, once and twice."""
_USUAL = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}


class Signals:
    """Makes SIGTERM what Ctrl-C is, and calls ``second`` at the second of them, until ``undo``.

    If that returns True, all is said and no KeyboardInterrupt is raised. Who has a handler of
    their own keeps it.
    """

    def __init__(self, second: Callable[[], bool]) -> None:
        self._second = second
        self._seen = 0
        self._before: dict[signal.Signals, Any] = {}
        if threading.current_thread() is not threading.main_thread():
            return
        for number, usual in _USUAL.items():
            before = signal.getsignal(number)
            if before == usual:
                self._before[number] = before
                signal.signal(number, self._interrupt)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        self._seen += 1
        if not (self._seen == 2 and self._second()):
            signal.default_int_handler(number, frame)

    def forget(self) -> None:
        """The run goes on: something swallowed the KeyboardInterrupt of what was seen so far."""
        self._seen = 0

    def undo(self) -> None:
        """Give the signals back, but for those for which another has taken over since."""
        for number, before in self._before.items():
            if signal.getsignal(number) == self._interrupt:
                signal.signal(number, before)
        self._before.clear()


def tell_workers(journal: Path, *, now: bool = False) -> None:
    """Let all workers know that the run is to stop, in order or ``now``; some got no signal."""
    with suppress(OSError):
        (journal / (_STOP_NOW if now else _STOP)).touch()


def forget_stop(journal: Path) -> None:
    """Begin anew in a run that was stopped."""
    for name in (_STOP, _STOP_NOW):
        (journal / name).unlink(missing_ok=True)


def follow_controller(stop: Callable[[], None], journal: Path) -> Signals:
    """In a worker: call ``stop``, once, when the controller is interrupted or gone.

    Without it a worker would go on to ask the model, for nobody. One whose controller is gone, or
    was interrupted twice, is ended: what has arrived is in the journal.
    """
    signals = Signals(lambda: os._exit(2))
    parent = os.getppid()

    def is_followed() -> bool:
        if (journal / _STOP_NOW).exists():
            os._exit(2)
        return os.getppid() == parent

    def watch() -> None:
        while is_followed() and not (journal / _STOP).exists():
            time.sleep(_LOOK_SECONDS)
        stop()
        while is_followed():
            time.sleep(_LOOK_SECONDS)
        time.sleep(LAST_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, name="evalplug-controller", daemon=True).start()
    return signals
