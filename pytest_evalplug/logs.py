"""What a run's log file holds: the package's warnings and errors, and how the engines did."""

from __future__ import annotations

__all__ = ["RUN_LOG", "close_log", "open_log"]

import logging
from collections.abc import Callable
from pathlib import Path

from pytest_evalplug.report.text import clean

RUN_LOG = logging.Logger("pytest_evalplug.run", logging.INFO)
"""Writes into the file only. It is no part of the logger tree, all of which pytest captures,
also what does not propagate."""

_LOGGERS = (logging.getLogger("pytest_evalplug"), RUN_LOG)


class _Formatter(logging.Formatter):
    """One record a line, but for its traceback; what it quotes of others can't pose as another."""

    def __init__(self, hide: Callable[[str], str]) -> None:
        super().__init__("%(asctime)s %(levelname)s %(message)s")
        self._hide = hide

    def format(self, record: logging.LogRecord) -> str:
        return clean(self._hide(super().format(record))).replace("\n", "\n    ")


def open_log(path: Path, hide: Callable[[str], str] = str) -> logging.Handler:
    """Log into ``path`` until :func:`close_log`; ``hide`` takes the secrets out of a text."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handler = logging.FileHandler(path, encoding="utf-8", errors="backslashreplace", delay=True)
    handler.setFormatter(_Formatter(hide))
    for logger in _LOGGERS:
        logger.addHandler(handler)
    return handler


def close_log(handler: logging.Handler) -> None:
    """End what :func:`open_log` began."""
    for logger in _LOGGERS:
        logger.removeHandler(handler)
    handler.close()
