"""The runs that the server shows: what there is, how each stands; blocks are kept a while."""

from __future__ import annotations

__all__ = ["NotFound", "Runs"]

import threading
from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from pytest_evalplug.errors import DataError, EvalplugError, one_line
from pytest_evalplug.report.viewer.live import LiveRun
from pytest_evalplug.report.viewer.overview import overview, table_key
from pytest_evalplug.report.viewer.report import compressed
from pytest_evalplug.report.viewer.samples import SampleTable
from pytest_evalplug.run.directory import RunDirectory, refuse_links
from pytest_evalplug.run.saved_run import SavedRun, open_saved
from pytest_evalplug.stash import MANIFEST

_T = TypeVar("_T")

KEPT_TABLES = 12
"""So many datasets' blocks stay in memory, compressed: about 2 MB for 10,000 samples."""


class NotFound(Exception):
    """There is no run, table or block of that name."""


class Runs:
    """The runs of a work dir, and single ones from elsewhere. Thread-safe.

    A run is asked for by its name and looked up, so no name is ever part of a path.
    """

    def __init__(self, work_dir: Path, others: Sequence[Path] = ()) -> None:
        self._work_dir = work_dir
        self._others = list(others)
        self._open: dict[str, _Opened] = {}
        self._lock = threading.RLock()
        self._tables: OrderedDict[tuple[str, str, str], dict[str, bytes]] = OrderedDict()

    def listed(self) -> list[dict[str, Any]]:
        """Return each run in a few words, the newest first."""
        with self._lock:
            return [self._in_short(name) for name in self._paths()]

    def run(self, name: str) -> dict[str, Any]:
        """Return a run's overview. Raises NotFound without such a run, DataError if damaged."""
        with self._lock, _readable(name):
            return self._opened(name).overview()

    def block(self, name: str, table: str, block: str) -> bytes:
        """Return a block of a table, gzipped JSON: ``index``, or a chunk's number.

        Raises NotFound if there is none, DataError if the run is damaged.
        """
        with self._lock, _readable(name):
            opened = self._opened(name)
            key = (name, table, opened.stamp(table))
            if key not in self._tables:
                self._tables[key] = opened.blocks(table)
                while len(self._tables) > KEPT_TABLES:
                    self._tables.popitem(last=False)
            self._tables.move_to_end(key)
            return _found(self._tables[key], block)

    def _paths(self) -> dict[str, Path]:
        names = reversed(RunDirectory.names(self._work_dir))
        others = {path.name: path for path in self._others}
        return others | {name: self._work_dir / name for name in names if name not in others}

    def _opened(self, name: str) -> _Opened:
        path = _found(self._paths(), name)
        opened = self._open.get(name)
        if opened is None or opened.state != _state(path) or opened.outdated():
            opened = self._open[name] = _Opened(path)
        opened.refresh()
        return opened

    def _in_short(self, name: str) -> dict[str, Any]:
        try:
            with _readable(name):
                return self._of_readable(name)
        except (EvalplugError, OSError) as error:
            return {"name": name, "state": "unreadable", "error": str(error)}

    def _of_readable(self, name: str) -> dict[str, Any]:
        about = self._opened(name).overview()
        tables = about["tables"]
        return {
            "name": name,
            "state": about["state"],
            "models": about["models"],
            "benchmarks": list(dict.fromkeys(table["benchmark"] for table in tables)),
            "samples": sum(table["num_samples"] for table in tables),
            "errors": sum(table["num_errors"] for table in tables),
            "partial": any(table["partial"] for table in tables),
            "rows": _headlines(about["rows"], {table["benchmark"] for table in tables}),
            "gates": about["gates"],
            "live": about.get("live"),
        }


@contextmanager
def _readable(name: str) -> Iterator[None]:
    """Make whatever files of wrong shapes lead to an error of the run that they are in."""
    try:
        yield
    except (NotFound, EvalplugError, OSError):
        raise
    except Exception as error:
        raise DataError(f"damaged: {one_line(error)}", where=name) from error


def _found(entries: Mapping[str, _T], name: str) -> _T:
    if name not in entries:
        raise NotFound(name)
    return entries[name]


def _headlines(rows: Sequence[dict[str, Any]], benchmarks: Collection[str]) -> list[dict[str, Any]]:
    """Return the first row of some benchmarks, or else of what there is."""
    first = {row["dataset"]: row for row in reversed(rows)}
    whole = [row for name, row in reversed(first.items()) if name in benchmarks]
    return (whole or list(rows))[:3]


class _Opened:
    """A run as it was when it was opened."""

    def __init__(self, path: Path) -> None:
        refuse_links(path)
        self.state = _state(path)
        self._path = path
        self._changed = _changed(path)
        self._live = LiveRun(path) if self.state in ("running", "stopped") else None
        self._run: SavedRun = self._live or _open(path)
        self._overview: dict[str, Any] | None = None

    def outdated(self) -> bool:
        """Tell whether a finished run was scored again since."""
        return self._live is None and self._changed != _changed(self._path)

    def refresh(self) -> None:
        """Read what a running one has done since."""
        if self._live is not None:
            self._live.refresh()
            self._overview = None

    def overview(self) -> dict[str, Any]:
        """Return the run's overview."""
        if self._overview is None:
            self._overview = overview(self._run, self.state)
            if self._live is not None:
                # the summary, if there is one, is of an earlier session
                self._overview |= {"rows": [], "notes": [], "gates": []}
                self._overview["live"] = self._live.progress()
            for table in self._overview["tables"]:
                table["stamp"] = self.stamp(table["key"])
        return self._overview

    def stamp(self, table: str) -> str:
        """Return what changes when a table's samples do."""
        if self._live is None:
            return str(self._changed)
        model, dataset = self._table(table)
        result = self._live.result(model, dataset, details=False)
        assert result is not None
        done = result.num_scored + result.num_errors + result.num_skipped
        return str(done) if done else f"p{len(self._live.records(model, dataset))}"

    def blocks(self, table: str) -> dict[str, bytes]:
        """Return a table's blocks."""
        model, dataset = self._table(table)
        result = self._run.result(model, dataset)
        if result is None:
            raise NotFound(table)
        samples = SampleTable(result, self._run.records(model, dataset))
        blocks = {str(n): compressed(text) for n, text in enumerate(samples.chunks())}
        return blocks | {"index": compressed(samples.index())}

    def _table(self, key: str) -> tuple[str, str]:
        keys = {table_key(n): table for n, table in enumerate(self._run.tables())}
        return _found(keys, key)


def _open(path: Path) -> SavedRun:
    """Open a finished run; one that was only predicted shows its predictions."""
    if not (path / "journal" / MANIFEST).exists() or any((path / "results").glob("*/*.json")):
        return open_saved(str(path), path.parent)
    predicted = LiveRun(path)
    predicted.refresh()
    return predicted


def _state(path: Path) -> str:
    """Return how a run stands. Its lock is only tried while there is something unfinished."""
    if not (path / "journal" / MANIFEST).exists():
        return "finished"
    summarized = any((path / "summary").glob("*.json"))
    merged = not any((path / "journal").glob("*.jsonl"))
    if summarized and merged:
        return "finished"
    if RunDirectory.in_use(path):
        return "running"
    # without a summary: nothing was scored, or the summarizer failed
    kept = any(any((path / name).glob("*/*.json")) for name in ("predictions", "results"))
    return "finished" if summarized or (merged and kept) else "stopped"


def _changed(path: Path) -> int:
    """Return when results were written last, in nanoseconds."""
    folders = (path / "predictions", path / "results", path / "summary")
    files = [file for folder in folders for file in folder.rglob("*")]
    return max((file.stat().st_mtime_ns for file in files), default=0)
