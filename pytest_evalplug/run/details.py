"""Verdicts on their way from the processes that scored them to the controller."""

from __future__ import annotations

__all__ = ["DetailStore"]

import json

from pytest_evalplug.run.directory import RunDirectory
from pytest_evalplug.run.records import RecordLog
from pytest_evalplug.types import Detail


class DetailStore:
    """Every process appends its details; the controller reads them all. Thread-safe.

    The controller calls :meth:`clear` before the first item, so that a killed session's verdicts
    are never taken for this one's, and when the results are written.
    """

    def __init__(self, run: RunDirectory, worker: str = "main") -> None:
        self._log = RecordLog(run, "details", worker)

    def put(self, model: str, dataset: str, detail: Detail) -> None:
        """Keep one sample's verdict; a later one for the same index replaces it."""
        self._log.append(model, dataset, detail.to_wire())

    def details(self, model: str, dataset: str) -> dict[str, Detail]:
        """Return index -> verdict, in the order of the indices."""
        found = {}
        scores: dict[str, dict[str, float]] = {}
        for index in self._log.indices(model, dataset):
            record = self._log.find(model, dataset, index)
            if record is not None:
                detail = found[index] = Detail.from_wire(json.loads(record.text))
                # most samples have one of a few scores: equal ones share their memory
                detail.score = scores.setdefault(repr(detail.score), detail.score)
        return found

    def tables(self) -> list[tuple[str, str]]:
        """Return each (model, dataset) that has a verdict."""
        return self._log.tables()

    def refresh(self) -> None:
        """Look for what other processes have appended since."""
        self._log.refresh()

    def close(self) -> None:
        """Bring this process's journal to the disk."""
        self._log.close()

    def clear(self) -> None:
        """Delete the journals of all processes; only while no worker runs."""
        self._log.remove()
