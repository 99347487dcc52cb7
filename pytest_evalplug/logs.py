"""What a run's log file holds: the package's warnings and errors, and how the engines did."""

from __future__ import annotations

__all__ = ["RUN_LOG", "close_log", "open_log"]

import logging
from pathlib import Path

RUN_LOG = logging.Logger("pytest_evalplug.run", logging.INFO)
"""Writes into the file only. It is no part of the logger tree, all of which pytest captures,
also what does not propagate."""

_LOGGERS = (logging.getLogger("pytest_evalplug"), RUN_LOG)


def open_log(path: Path) -> logging.Handler:
    """Log into ``path`` until :func:`close_log`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handler = logging.FileHandler(path, encoding="utf-8", errors="backslashreplace", delay=True)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    for logger in _LOGGERS:
        logger.addHandler(handler)
    return handler


def close_log(handler: logging.Handler) -> None:
    """End what :func:`open_log` began."""
    for logger in _LOGGERS:
        logger.removeHandler(handler)
    handler.close()
