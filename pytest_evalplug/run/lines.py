"""Files read line by line, in any order."""

from __future__ import annotations

__all__ = ["LineFile"]

import threading
from pathlib import Path
from typing import BinaryIO


class LineFile:
    """Reads the line at a byte offset; the file is opened at the first call and kept open."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: BinaryIO | None = None
        self._lock = threading.Lock()

    def line(self, offset: int) -> str:
        """Return the line that begins at ``offset``, without its line feed."""
        with self._lock:
            if self._file is None:
                self._file = open(self._path, "rb")  # noqa: SIM115 - closed by close()
            self._file.seek(offset)
            return self._file.readline().decode().rstrip("\n")

    def close(self) -> None:
        """Close the file, so that it can be replaced; it is opened again if need be."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def __del__(self) -> None:
        self.close()
