"""All processes' journals of one kind, read as one table: the latest record of an index counts."""

from __future__ import annotations

__all__ = ["RecordLog", "index_order"]

import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeAlias

from pytest_evalplug.run.directory import RunDirectory, safe_name
from pytest_evalplug.run.journal import BOM, JournalWriter, scan_journal

Record: TypeAlias = dict[str, Any]
Table: TypeAlias = tuple[str, str]
"""A model's and a dataset's name."""


class _Place(NamedTuple):
    rank: tuple[int, float]
    path: Path
    offset: int


class RecordLog:
    """Appends this process's records and finds everyone's.

    A record is a dict with ``index``. Only its place in its file is held in memory. Which record
    of an index counts is decided by ``importance`` (higher first), then by time. Thread-safe.
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
        self._places: dict[Table, dict[str, _Place]] = {}
        self._readers: dict[Path, BinaryIO] = {}

    def append(self, model: str, dataset: str, record: Record) -> None:
        """Write ``record``; it survives a kill of this process when this returns."""
        now = time.time()
        line = {"model": model, "dataset": dataset, "time": now, "record": record}
        with self._lock:
            if self._writer is None:
                self._writer = JournalWriter(self._own)
            offset = self._writer.append(line)
            self._keep(line, self._own, offset)

    def get(self, model: str, dataset: str, index: str) -> Record | None:
        """Return the record that counts, or None. Journals are scanned at the first call."""
        with self._lock:
            self._scan_once()
            place = self._places.get((model, dataset), {}).get(index)
            return None if place is None else self._read(place)

    def tables(self) -> list[Table]:
        """Return each (model, dataset) that has a record."""
        with self._lock:
            self._scan_once()
            return list(self._places)

    def records(self, model: str, dataset: str) -> Iterator[Record]:
        """Yield the records that count, in the order of their index."""
        with self._lock:
            self._scan_once()
            places = dict(self._places.get((model, dataset), {}))
        for index in sorted(places, key=index_order):
            with self._lock:
                record = self._read(places[index])
            yield record

    def refresh(self) -> None:
        """Look for what other processes have appended since."""
        with self._lock:
            self._scanned = self._scanned or {}
            for path in sorted(self._folder.glob(f"{self._kind}-*.jsonl")):
                self._scan(path, self._scanned)

    def close(self) -> None:
        """Bring this process's journal to the disk; the log can still be used."""
        with self._lock:
            if self._writer is not None:
                self._writer.close()
                self._writer = None
            for file in self._readers.values():
                file.close()
            self._readers.clear()

    def remove(self) -> None:
        """Delete the journals of all processes: only when they have ended or begin."""
        with self._lock:
            self.close()
            for path in self._folder.glob(f"{self._kind}-*.jsonl"):
                path.unlink()
            self._places.clear()
            self._scanned = None

    def _scan_once(self) -> None:
        if self._scanned is None:
            self.refresh()

    def _scan(self, path: Path, scanned: dict[Path, int]) -> None:
        for offset, line in scan_journal(path, scanned.get(path, 0)):
            self._keep(line, path, offset)
            # from this line on next time: what follows it may be a line half written
            scanned[path] = offset

    def _keep(self, line: Record, path: Path, offset: int) -> None:
        match line:
            case {
                "model": str(model),
                "dataset": str(dataset),
                "time": int() | float() as when,
                "record": {"index": index} as record,
            }:
                place = _Place((self._importance(record), when), path, offset)
            case _:
                return
        places = self._places.setdefault((model, dataset), {})
        old = places.get(str(index))
        if old is None or place.rank >= old.rank:
            places[str(index)] = place

    def _read(self, place: _Place) -> Record:
        file = self._readers.get(place.path)
        if file is None:
            file = self._readers[place.path] = place.path.open("rb")
        file.seek(place.offset)
        record: Record = json.loads(file.readline().removeprefix(BOM))["record"]
        return record


def index_order(index: str) -> tuple[tuple[int, str], ...]:
    """Sort key of an index: ``2`` before ``10`` before ``10.1``."""
    return tuple((int(p), "") if p.isdecimal() else (0, p) for p in index.split("."))
