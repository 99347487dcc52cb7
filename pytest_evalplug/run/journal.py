"""Append-only JSON lines: what has arrived stays, whatever happens to the process."""

from __future__ import annotations

__all__ = ["BOM", "JournalWriter", "scan_journal"]

import json
import logging
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from pytest_evalplug.run.jsonio import dumps, storing

_log = logging.getLogger(__name__)
BOM = b"\xef\xbb\xbf"


class JournalWriter:
    """Appends one record a line and hands each to the operating system at once.

    A kill -9 after :meth:`append` loses nothing; a power cut may. Thread-safe; one process a file.
    Each method raises StorageError where the disk is full or read-only.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        with storing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = open(path, "a+b", buffering=0)  # noqa: SIM115 - closed by close()
        self._size = self._file.seek(0, os.SEEK_END)
        self._at_line_start = self._size == 0 or self._ends_line()

    def append(self, record: Mapping[str, Any]) -> int:
        """Write ``record`` and return the byte offset of its line."""
        line = dumps(record).encode() + b"\n"
        with self._lock, storing(self.path):
            if not self._at_line_start:  # a half line, by a kill or a full disk, ends here
                self._write(b"\n")
            offset = self._size
            self._at_line_start = False
            self._write(line)
            self._at_line_start = True
        return offset

    def close(self) -> None:
        """Bring the journal to the disk and close it; closing twice is fine."""
        with self._lock:
            if self._file.closed:
                return
            with self._file, storing(self.path):
                os.fsync(self._file.fileno())

    def __enter__(self) -> JournalWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _ends_line(self) -> bool:
        self._file.seek(-1, os.SEEK_END)
        return self._file.read(1) == b"\n"

    def _write(self, data: bytes) -> None:
        while data:  # an unbuffered write may be short
            count = self._file.write(data)
            self._size += count
            data = data[count:]


def scan_journal(
    path: Path, start: int = 0, broken: Callable[[int], None] | None = None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield ``(byte offset, record)`` for the lines from ``start``, the offset of a line, on.

    Only a line feed ends a line; a line that is torn, not UTF-8 or not a JSON object costs only
    itself: ``broken`` is called with its offset, also for one that is being written just now.
    """
    offset = start
    with path.open("rb") as file:
        file.seek(start)
        for line in file:  # a binary file is split at b"\n" only
            record = _parse(line)
            if record is not None:
                yield offset, record
            elif line.strip():
                if line.endswith(b"\n"):
                    _log.warning("%s: broken line at byte %d skipped", path, offset)
                if broken is not None:
                    broken(offset)
            offset += len(line)


def _parse(line: bytes) -> dict[str, Any] | None:
    """Return the record that a line holds, or None for a blank or broken one."""
    try:
        record = json.loads(line.removeprefix(BOM).decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None
