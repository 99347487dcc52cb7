"""Saved predictions, served again only while everything that led to them is the same."""

from __future__ import annotations

__all__ = ["JudgementStore", "PredictionKey", "PredictionStore"]

import json
import shutil
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

from pytest_evalplug.errors import DataError
from pytest_evalplug.run.directory import RunDirectory
from pytest_evalplug.run.jsonio import json_object, storing, write_atomic
from pytest_evalplug.run.merged import MergedFile
from pytest_evalplug.run.records import RecordLog, free_name, index_order

Record: TypeAlias = dict[str, Any]

_WORDS = {
    "model": "model",
    "prompt": "prompt",
    "params": "generation parameters",
    "sample": "sample",
}


@dataclass(frozen=True, slots=True)
class PredictionKey:
    """Short hashes of all that a prediction depends on, kept apart to say what changed.

    ``model`` is of the backend's fingerprint, ``params`` of the generation parameters and the
    evaluation mode, ``sample`` of what identifies it: index, id, choices, repeat. The reference
    has no part in it: it is scored with, never shown, and may be corrected afterwards.
    """

    model: str
    prompt: str
    params: str
    sample: str

    def to_wire(self) -> dict[str, str]:
        """Return plain JSON types, for a record's ``key``."""
        return {name: getattr(self, name) for name in _WORDS}

    def differs(self, wire: Any) -> list[str]:
        """Name what is not the same in a record's ``key``; empty if all is."""
        mine = self.to_wire()
        if wire == mine:
            return []
        known = wire if isinstance(wire, Mapping) else {}
        return [word for name, word in _WORDS.items() if str(known.get(name, "")) != mine[name]]


def _is_prediction(record: Record) -> int:
    return int("prediction" in record)


class PredictionStore:
    """The predictions of a run: what is merged, and what every process's journal holds.

    A record is a dict with ``index``, ``sample_id``, ``subset``, ``origin_prompt``, ``gold``,
    ``key`` and either ``prediction`` or ``error``. The latest record of an index counts, but an
    error never takes the place of a prediction. Of a file that is damaged, what can be read
    counts. Thread-safe.
    """

    kind: ClassVar[str] = "predictions"

    def __init__(self, run: RunDirectory, worker: str = "main") -> None:
        self._run = run
        self._log = RecordLog(run, self.kind, worker, importance=_is_prediction)
        self._merged: dict[tuple[str, str], MergedFile] = {}
        self._damaged: dict[tuple[str, str], DataError] = {}
        self._repaired: list[str] = []
        self._lock = threading.Lock()

    def put(self, model: str, dataset: str, record: Record) -> None:
        """Keep ``record``; it survives a kill of this process when this returns.

        Raises StorageError if it can't be written; this store has it all the same.
        """
        self._log.append(model, dataset, record)

    def get(self, model: str, dataset: str, index: str) -> Record | None:
        """Return the saved prediction, whatever its key, or None; never an error."""
        record = self.lookup(model, dataset, index)
        return record if record is not None and _is_prediction(record) else None

    def lookup(self, model: str, dataset: str, index: str) -> Record | None:
        """Return what was saved, prediction or error, or None."""
        merged = self._load(model, dataset)
        text = self._newer(model, dataset, index, merged)
        if text is None:
            with self._lock:
                return merged.get(index)
        record: Record = json.loads(text)
        return record

    def records(self, model: str, dataset: str) -> Mapping[str, Record]:
        """Return all that was saved for a dataset, in the order of the indices.

        A record is read when it is asked for.
        """
        return _SavedRecords(self, model, dataset)

    def indices(self, model: str, dataset: str) -> list[str]:
        """Return the indices of which something was saved, in order."""
        every = {*self._load(model, dataset), *self._log.indices(model, dataset)}
        return sorted(every, key=index_order)

    def refresh(self) -> None:
        """Look for what other processes have saved since."""
        self._log.refresh()

    def close(self) -> None:
        """Bring this process's journal to the disk. Raises StorageError."""
        self._log.close()

    def merge(self) -> list[Path]:
        """Bring all journals into the prediction files and return those written.

        For the controller, while no worker runs. The journals go only when every file is on the
        disk. What is damaged is repaired, and kept beside. Raises StorageError; nothing is lost
        then.
        """
        self._log.refresh()
        written = []
        for model, dataset in dict.fromkeys([*self._log.tables(), *self._damaged]):
            path = self._file(model, dataset)
            with storing(path):
                self._load(model, dataset)
            if (model, dataset) in self._damaged:
                self._put_aside(path, self._damaged.pop((model, dataset)))
            offsets: dict[str, int] = {}
            write_atomic(path, json_object(self._texts(model, dataset), offsets))
            written.append(path)
            with self._lock:
                self._merged[model, dataset] = MergedFile(path, offsets=offsets)
        self._log.remove(keep_broken=True)
        return written

    @property
    def broken(self) -> list[str]:
        """A line for each file that was found damaged: what it is, and where it lies now."""
        found = [f"{error.where}: {error.what}" for error in self._damaged.values()]
        return [*self._repaired, *found, *self._log.broken]

    def _put_aside(self, path: Path, error: DataError) -> None:
        """Keep a copy of a damaged file, which is about to be written anew."""
        with storing(path):
            kept = free_name(path.with_name(f"{path.name}.damaged"))
            shutil.copyfile(path, kept)
        self._repaired.append(f"{kept}: {error.what}; all lines that can be read are kept")

    def _file(self, model: str, dataset: str) -> Path:
        return self._run.prediction_file(model, dataset)

    def _texts(self, model: str, dataset: str) -> Iterator[tuple[str, str]]:
        """Yield index and JSON text: copied as it is, which is much faster."""
        merged = self._load(model, dataset)
        for index in self.indices(model, dataset):
            yield index, self._newer(model, dataset, index, merged) or merged.text(index)
        merged.close()  # it is about to be replaced

    def _newer(self, model: str, dataset: str, index: str, merged: MergedFile) -> str | None:
        """Return what a journal has, unless it is an error and ``merged`` a prediction."""
        found = self._log.find(model, dataset, index)
        if found is None or (not found.importance and _is_prediction(merged.get(index) or {})):
            return None
        return found.text

    def _load(self, model: str, dataset: str) -> MergedFile:
        with self._lock:
            table = (model, dataset)
            if table not in self._merged:

                def damaged(error: DataError) -> None:
                    self._damaged[table] = error

                self._merged[table] = MergedFile(self._file(*table), damaged)
            return self._merged[table]


class _SavedRecords(Mapping[str, Record]):
    """Index -> record, read from the store."""

    def __init__(self, store: PredictionStore, model: str, dataset: str) -> None:
        self._store = store
        self._table = (model, dataset)

    def __getitem__(self, index: str) -> Record:
        record = self._store.lookup(*self._table, index)
        if record is None:
            raise KeyError(index)
        return record

    def __iter__(self) -> Iterator[str]:
        return iter(self._store.indices(*self._table))

    def __len__(self) -> int:
        return len(self._store.indices(*self._table))


class JudgementStore(PredictionStore):
    """What judges replied, by judge: ``index`` is a hash of all that was asked and of whom."""

    kind = "judgements"

    def _file(self, model: str, dataset: str) -> Path:
        return self._run.judgement_file(model, dataset)
