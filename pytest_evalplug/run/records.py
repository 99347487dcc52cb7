"""All processes' journals of one kind, read as one table: the latest record of an index counts."""

from __future__ import annotations

__all__ = ["Found", "RecordLog", "free_name", "index_order"]

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from pytest_evalplug.errors import StorageError
from pytest_evalplug.run.directory import RunDirectory, safe_name
from pytest_evalplug.run.journal import JournalWriter, scan_journal
from pytest_evalplug.run.jsonio import dumps, storing
from pytest_evalplug.run.lines import LineFile

Record: TypeAlias = dict[str, Any]
Table: TypeAlias = tuple[str, str]
"""A model's and a dataset's name."""

_MARK = ', "record": '


_TIME_BITS, _FILE_BITS, _OFFSET_BITS = 53, 16, 44


def _pack(importance: int, when: float, file: int, offset: int) -> int:
    """Return where a record lies as one int, larger for one that counts more; ``when`` in seconds.

    There is one for every sample of a run, and nothing else of it in memory.
    """
    microseconds = min(max(0, int(when * 1e6)), (1 << _TIME_BITS) - 1)
    rank = (importance << _TIME_BITS) | microseconds
    return (((rank << _FILE_BITS) | file) << _OFFSET_BITS) | offset


def _unpack(place: int) -> tuple[int, int, int]:
    """Return importance, file and offset."""
    offset = place & ((1 << _OFFSET_BITS) - 1)
    file = (place >> _OFFSET_BITS) & ((1 << _FILE_BITS) - 1)
    return place >> (_OFFSET_BITS + _FILE_BITS + _TIME_BITS), file, offset


class Found(NamedTuple):
    """A record as JSON text, and how much it counts."""

    importance: int
    text: str


class RecordLog:
    """Appends this process's records and finds everyone's.

    A record is a dict with ``index``. Only its place in its file is held in memory. Which record
    of an index counts is decided by ``importance`` (higher first), then by time. Thread-safe.
    ``broken`` has a line for each journal that was removed and could not be read as a whole.
    """

    def __init__(
        self,
        run: RunDirectory,
        kind: str,
        worker: str,
        *,
        importance: Callable[[Record], int] = lambda record: 0,
    ) -> None:
        self._folder = run.journal
        self._kind = kind
        self._own = run.journal / f"{kind}-{safe_name(worker)}.jsonl"
        self._importance = importance
        self._lock = threading.RLock()
        self._writer: JournalWriter | None = None
        self._scanned: dict[Path, int] | None = None
        self._places: dict[Table, dict[str, int]] = {}
        self._files: list[LineFile] = []
        self._numbers: dict[Path, int] = {}
        """Journal -> its position in ``_files``, which is what places hold."""
        self._broken: dict[Path, set[int]] = {}
        self._newest = 0.0
        self._unwritten: dict[Table, dict[str, Record]] = {}
        """What the disk refused: nobody else can find it."""
        self.broken: list[str] = []

    def append(self, model: str, dataset: str, record: Record) -> None:
        """Write ``record``; it survives a kill of this process when this returns.

        Raises StorageError if it can't be written; this log finds it all the same.
        """
        with self._lock:
            scanned = self._scan_once()
            # a clock that was set back must not make this older than what it replaces
            now = max(time.time(), self._newest + 1e-6)
            line = {"model": model, "dataset": dataset, "time": now, "record": record}  # this order
            try:
                if self._writer is None:
                    self._writer = JournalWriter(self._own)
                scanned[self._own] = self._writer.append(line)
            except StorageError:
                self._unwritten.setdefault((model, dataset), {})[str(record["index"])] = record
                raise
            self._unwritten.get((model, dataset), {}).pop(str(record["index"]), None)
            self._keep(line, self._own, scanned[self._own])

    def find(self, model: str, dataset: str, index: str) -> Found | None:
        """Return the record that counts, or None. Journals are scanned at the first call."""
        with self._lock:
            self._scan_once()
            unwritten = self._unwritten.get((model, dataset), {}).get(index)
            if unwritten is not None:
                return Found(self._importance(unwritten), dumps(unwritten))
            place = self._places.get((model, dataset), {}).get(index)
            if place is None:
                return None
            importance, file, offset = _unpack(place)
            return Found(importance, self._read(file, offset))

    def tables(self) -> list[Table]:
        """Return each (model, dataset) that has a record."""
        with self._lock:
            self._scan_once()
            return list({**self._places, **self._unwritten})

    def indices(self, model: str, dataset: str) -> list[str]:
        """Return the indices that have a record, in order."""
        with self._lock:
            self._scan_once()
            table = (model, dataset)
            every = {**self._places.get(table, {}), **self._unwritten.get(table, {})}
            return sorted(every, key=index_order)

    def refresh(self) -> None:
        """Look for what other processes have appended since."""
        with self._lock:
            scanned = self._scan_once()
            for path in self._journals():
                self._scan(path, scanned)

    def close(self) -> None:
        """Bring this process's journal to the disk; the log can still be used.

        Raises StorageError if the disk still refuses something.
        """
        with self._lock:
            for file in self._files:
                file.close()
            for (model, dataset), records in self._unwritten.items():
                for record in list(records.values()):
                    self.append(model, dataset, record)
            writer, self._writer = self._writer, None
            if writer is not None:
                writer.close()

    def remove(self, *, keep_broken: bool = False) -> None:
        """Delete the journals of all processes: only when they have ended or begin.

        With ``keep_broken`` one that has broken lines is renamed to ``<name>.damaged``, and
        ``broken`` says so. Raises StorageError if one can't be removed; it is found again.
        """
        with self._lock:
            self._unwritten.clear()
            self.close()
            try:
                for path in self._journals():
                    with storing(path):
                        if keep_broken and self._broken.get(path):
                            self._put_aside(path)
                        else:
                            path.unlink()
            finally:
                self._places.clear()
                self._files.clear()
                self._numbers.clear()
                self._broken.clear()
                self._scanned = None

    def _put_aside(self, path: Path) -> None:
        offsets = sorted(self._broken[path])
        kept = free_name(path.with_name(f"{path.name}.damaged"))
        path.rename(kept)
        self.broken.append(
            f"{kept}: {len(offsets)} broken lines, the first at byte {offsets[0]}; "
            "all the rest was kept"
        )

    def _journals(self) -> list[Path]:
        return sorted(self._folder.glob(f"{self._kind}-*.jsonl"))

    def _scan_once(self) -> dict[Path, int]:
        """Return how far each journal has been read, after reading all of them once."""
        if self._scanned is None:
            self._scanned = {}
            for path in self._journals():
                self._scan(path, self._scanned)
        return self._scanned

    def _scan(self, path: Path, scanned: dict[Path, int]) -> None:
        broken = self._broken.setdefault(path, set())
        for offset, line in scan_journal(path, scanned.get(path, 0), broken.add):
            broken.discard(offset)  # it was being written
            self._keep(line, path, offset)
            # from this line on next time: what follows it may be a line half written
            scanned[path] = offset

    def _keep(self, line: Record, path: Path, offset: int) -> None:
        try:
            table, record = (line["model"], line["dataset"]), line["record"]
            when = float(line["time"])
            place = _pack(self._importance(record), when, self._number(path), offset)
            index = str(record["index"])
            places = self._places.setdefault(table, {})
        except (KeyError, TypeError, ValueError, OverflowError):
            return  # JSON, but not ours
        self._newest = max(self._newest, when)
        if place >= places.get(index, 0):
            places[index] = place

    def _number(self, path: Path) -> int:
        if path not in self._numbers:
            self._numbers[path] = len(self._files)
            self._files.append(LineFile(path))
        return self._numbers[path]

    def _read(self, number: int, offset: int) -> str:
        line = self._files[number].line(offset).rstrip()
        # the record comes last; inside a string the quotes of this mark would be escaped
        return line[line.index(_MARK) + len(_MARK) : -1]


def free_name(path: Path) -> Path:
    """Return ``path``, or with a number behind it the first name that is not taken."""
    number = 1
    free = path
    while free.exists():
        number += 1
        free = path.with_name(f"{path.name}-{number}")
    return free


def index_order(index: str) -> tuple[tuple[int, str], ...]:
    """Sort key of an index: ``2`` before ``10`` before ``10.1``."""
    return tuple((int(p), "") if p.isdecimal() else (0, p) for p in index.split("."))
