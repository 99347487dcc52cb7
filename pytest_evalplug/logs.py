"""The package's log goes into the run directory, and only there."""

from __future__ import annotations

__all__ = ["close_log", "open_log"]

import logging
from pathlib import Path

_LOGGER = logging.getLogger("pytest_evalplug")


def open_log(path: Path) -> logging.Handler:
    """Log into ``path`` until :func:`close_log`; nothing mixes with what pytest captures."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handler = logging.FileHandler(path, encoding="utf-8", errors="backslashreplace", delay=True)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    _LOGGER.addHandler(handler)
    _LOGGER.setLevel(logging.INFO)
    _LOGGER.propagate = False
    return handler


def close_log(handler: logging.Handler) -> None:
    """Leave the logger as :func:`open_log` found it."""
    _LOGGER.removeHandler(handler)
    _LOGGER.setLevel(logging.NOTSET)
    _LOGGER.propagate = True
    handler.close()
