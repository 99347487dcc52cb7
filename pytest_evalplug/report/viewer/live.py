"""A run that has not ended, or was killed: read from its journals as far as it is."""

from __future__ import annotations

__all__ = ["LiveRun"]

import json
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_evalplug.run.directory import RunDirectory
from pytest_evalplug.run.journal import scan_journal
from pytest_evalplug.run.predictions import PredictionStore
from pytest_evalplug.run.records import index_order
from pytest_evalplug.run.results import ResultFile
from pytest_evalplug.stash import MANIFEST
from pytest_evalplug.types import Detail
from pytest_evalplug.wire import Manifest, Part

Table = tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Selected:
    """A manifest's part, for one model."""

    part: Part
    model: str


class LiveRun:
    """Reads like a saved run; :meth:`refresh` looks for what has been appended since."""

    def __init__(self, path: Path) -> None:
        self._run = RunDirectory.attach(path)
        self.path = path
        self.name = path.name
        self._store = PredictionStore(self._run)
        self._offsets: dict[Path, int] = {}
        self._details: dict[Table, dict[str, Detail]] = {}
        self._times: list[float] = []
        self._manifest = Manifest()

    def refresh(self) -> None:
        """Read what is new; raises OSError if the journals are being merged just now."""
        self._store.refresh()
        self._manifest = Manifest.read(self._run.journal / MANIFEST)
        for path in sorted(self._run.journal.glob("details-*.jsonl")):
            for offset, line in scan_journal(path, self._offsets.get(path, 0)):
                if self._offsets.get(path, -1) < offset:
                    self._keep(line)
                    # from this line on next time: what follows it may be half written
                    self._offsets[path] = offset

    def tables(self) -> list[Table]:
        """Return (model, dataset) of all that was selected."""
        return [(selected.model, selected.part.dataset) for selected in self._selected()]

    def result(self, model: str, dataset: str, *, details: bool = True) -> ResultFile | None:
        """Return what is scored by now, without metrics: those are computed at the end."""
        for selected in self._selected():
            part = selected.part
            if (selected.model, part.dataset) == (model, dataset):
                found = self._details.get((model, dataset), {})
                outcomes = Counter(map(_outcome, found.values()))
                return ResultFile(
                    model=model,
                    dataset=dataset,
                    benchmark=part.benchmark,
                    subset=part.subset,
                    version=part.version,
                    mode="-",
                    num_samples=len(part.indices),
                    num_scored=len(found) - outcomes["error"] - outcomes["skipped"],
                    num_errors=outcomes["error"],
                    num_skipped=outcomes["skipped"],
                    num_correct=outcomes["right"],
                    partial=len(part.indices) < part.available,
                    # without any verdict, the predictions alone are shown
                    details=[found[i] for i in sorted(found, key=index_order)]
                    if details and found
                    else None,
                )
        return None

    def records(self, model: str, dataset: str) -> Mapping[str, Mapping[str, Any]]:
        """Return the predictions that have arrived."""
        return self._store.records(model, dataset)

    def progress(self) -> dict[str, Any]:
        """Return how far the run is, whole and by table, as plain types; times are in seconds."""
        parts = [self._progress_of(selected) for selected in self._selected()]
        total = {name: sum(part[name] for part in parts) for name in _COUNTS}
        rate = _rate(self._times)
        left = total["total"] - total["done"]
        return {
            **total,
            "rate": rate,
            "left": left / rate if rate else None,
            "silent": round(time.time() - self._times[-1], 1) if self._times else None,
            "parts": parts,
        }

    def _progress_of(self, selected: _Selected) -> dict[str, Any]:
        part, model = selected.part, selected.model
        found = self._details.get((model, part.dataset), {})
        outcomes = Counter(map(_outcome, found.values()))
        return {
            "model": model,
            "dataset": part.dataset,
            "benchmark": part.benchmark,
            "total": len(part.indices),
            "done": len(found),
            "predicted": max(len(found), len(self._store.records(model, part.dataset))),
            "right": outcomes["right"],
            "wrong": outcomes["wrong"],
            "errors": outcomes["error"],
            "skipped": outcomes["skipped"],
        }

    def _selected(self) -> list[_Selected]:
        seen = dict.fromkeys(model for model, _ in self._details) or self._models()
        return [
            _Selected(part, model)
            for part in self._manifest.parts
            if part.indices
            for model in ([part.model] if part.model else seen or ["model"])
        ]

    def _models(self) -> list[str]:
        """Return the models that anything was asked of: before the first verdict, that is all."""
        names = []
        for path in sorted((self._run.configs / "models").glob("*.json")):
            with suppress(ValueError, LookupError, TypeError, RecursionError):
                names.append(str(json.loads(path.read_text(encoding="utf-8"))["name"]))
        return names

    def _keep(self, line: Mapping[str, Any]) -> None:
        try:
            detail = Detail.from_wire(line["record"])
            when = float(line["time"])
            self._details.setdefault((line["model"], line["dataset"]), {})[detail.index] = detail
        except (KeyError, TypeError, ValueError, AttributeError):
            return  # JSON, but not ours
        self._times.append(when)


_COUNTS = ("total", "done", "predicted", "right", "wrong", "errors", "skipped")


def _outcome(detail: Detail) -> str:
    if (detail.metadata or {}).get("skipped"):
        return "skipped"
    if detail.error is not None:
        return "error"
    return {True: "right", False: "wrong", None: "none"}[detail.correct]


def _rate(times: list[float], window: int = 500) -> float | None:
    """Return samples a second, over the latest verdicts."""
    latest = sorted(times[-window:])
    if len(latest) < 2 or latest[-1] <= latest[0]:
        return None
    return (len(latest) - 1) / (latest[-1] - latest[0])
