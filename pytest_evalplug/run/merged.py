"""Prediction files, read record by record: only where each record lies is held in memory."""

from __future__ import annotations

__all__ = ["MergedFile"]

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from pytest_evalplug.errors import DataError
from pytest_evalplug.run.jsonio import dumps
from pytest_evalplug.run.lines import LineFile

Record: TypeAlias = dict[str, Any]
_DECODER = json.JSONDecoder()


class MergedFile(Mapping[str, Record]):
    """Index -> record of a prediction file; empty if there is none.

    Files that we wrote have a line for each record, which is read when it is asked for. A file
    in another form (edited, indented) is held as a whole. Raises DataError if it is damaged; or
    calls ``damaged`` with that and keeps the lines that can be read.
    """

    def __init__(
        self,
        path: Path,
        damaged: Callable[[DataError], None] | None = None,
        *,
        offsets: dict[str, int] | None = None,
    ) -> None:
        """``offsets`` has where the line of each record begins, if that is known."""
        self._lines = LineFile(path)
        self._whole: dict[str, Record] = {}
        self._offsets = offsets or {}
        if offsets is None and path.exists():
            offsets = _offsets(path)
            try:
                if offsets is None:
                    self._whole = _read(path)
            except DataError as error:
                if damaged is None:
                    raise
                damaged(error)
                offsets = _readable(path)
            self._offsets = offsets or {}

    def __getitem__(self, index: str) -> Record:
        if self._whole:
            return self._whole[index]
        record: Record = json.loads(self.text(index))
        return record

    def __iter__(self) -> Iterator[str]:
        return iter(self._whole or self._offsets)

    def __len__(self) -> int:
        return len(self._whole or self._offsets)

    def __contains__(self, index: object) -> bool:
        return index in self._whole or index in self._offsets

    def text(self, index: str) -> str:
        """Return a record as JSON text, on one line. Raises KeyError."""
        if self._whole:
            return dumps(self._whole[index])
        text = self._lines.line(self._offsets[index]).rstrip(",")
        _, end = _DECODER.raw_decode(text)
        return text[end + len(": ") :]

    def close(self) -> None:
        """Let go of the file, so that it can be replaced."""
        self._lines.close()


def _offsets(path: Path) -> dict[str, int] | None:
    """Return where the line of each record begins; None if the file has another form."""
    found: dict[str, int] = {}
    with path.open("rb") as file:
        if file.readline() != b"{\n":
            return None
        offset = 2
        for line in file:
            if line == b"}\n":
                return None if file.read(1) else found
            entry = _entry(line)
            if entry is None:
                return None
            found[entry] = offset
            offset += len(line)
    return None


def _readable(path: Path) -> dict[str, int]:
    """Return where the line of each record begins, whatever else is in the file."""
    found: dict[str, int] = {}
    offset = 0
    with path.open("rb") as file:
        for line in file:
            if (entry := _entry(line)) is not None:
                found[entry] = offset
            offset += len(line)
    return found


def _entry(line: bytes) -> str | None:
    """Return the index of the record that a line holds as ``"index": {...}``, else None."""
    try:
        text = line.decode().rstrip(",\n")
        entry = json.loads(f"{{{text}}}")
    except (ValueError, RecursionError):
        return None
    [(index, record)] = entry.items() if len(entry) == 1 else [("", None)]
    return index if isinstance(record, dict) and line.startswith(_key(index)) else None


def _key(index: str) -> bytes:
    return f"{dumps(index)}: ".encode()


def _read(path: Path) -> dict[str, Record]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise _damaged(path, str(error)) from error
    if not isinstance(content, dict) or not all(isinstance(r, dict) for r in content.values()):
        raise _damaged(path, "not an object of records")
    return content


def _damaged(path: Path, why: str) -> DataError:
    return DataError(
        f"the prediction file can't be read: {why}",
        where=str(path),
        fix="Repair it, or move it away to ask the model again",
    )
