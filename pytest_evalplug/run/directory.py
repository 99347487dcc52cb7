"""One run's directory: where each stage lies, and who may write to it."""

from __future__ import annotations

__all__ = ["RunDirectory", "next_time", "refuse_links", "safe_name", "timestamp"]

import difflib
import errno
import hashlib
import re
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from types import TracebackType

import filelock

from pytest_evalplug.errors import ConfigError, DataError
from pytest_evalplug.run.jsonio import TEMPORARY, storing

_RUN_NAME = re.compile(r"(\d{8})_(\d{6})(?:-(\d+))?")
_SAFE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")
ORPHAN_SECONDS = 10.0
"""How long workers whose controller was killed may take to end."""
LOOK_SECONDS = 1.0
"""More than a reader takes to see whether a run is in use."""
_HASHED = re.compile(r"-[0-9a-f]{10}$")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?|.*\.", re.IGNORECASE)
"""What Windows takes for a device, or shortens."""


def timestamp() -> str:
    """Return the local time as it stands in the names of runs and summaries."""
    return datetime.now().strftime("%Y%m%d_%H%M%S")


def safe_name(text: str) -> str:
    """Return a file name for ``text``: ASCII, at most 100 characters, never a path or hidden.

    Different texts give different names: one that had to change ends in a hash of the text.
    """
    if _SAFE.fullmatch(text) and not (_HASHED.search(text) or _RESERVED.fullmatch(text)):
        return text
    # lone surrogates are possible in names that came from a command line
    code = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    readable = re.sub(r"[^A-Za-z0-9._-]+", "_", text).lstrip(".-")[:80]
    if _RESERVED.fullmatch(readable):  # with whatever ending
        readable = f"_{readable}"
    return f"{readable or '_'}-{code}"


def refuse_links(run: Path) -> None:
    """Raise DataError if a link in a run, which may come from anywhere, leads out of it."""
    home = run.resolve()
    for path in run.rglob("*"):
        if path.is_symlink() and not path.resolve().is_relative_to(home):
            raise DataError(
                "a link that leads out of the run", where=str(path), fix="Remove the link"
            )


class RunDirectory:
    """``<work_dir>/<timestamp>/`` with a place for every stage; see DESIGN.md, section 5.

    Made by :meth:`create`, :meth:`open` or :meth:`adopt` (all lock it for this process, until
    :meth:`close`), by :meth:`join` (for worker processes) or :meth:`attach` (for readers).
    """

    def __init__(self, path: Path, lock: filelock.BaseFileLock | None = None) -> None:
        self.path = path
        self._lock = lock

    @classmethod
    def create(cls, work_dir: Path) -> RunDirectory:
        """Make a new directory, named after the time; unique also within a second.

        It comes after all that are there, also if the clock was set back. Raises ConfigError if
        ``work_dir`` can't be written to.
        """
        try:
            work_dir.mkdir(parents=True, exist_ok=True)
            for name in _next_names(work_dir):
                if _make(work_dir / name):
                    return cls(work_dir / name, _lock(work_dir / name))
        except OSError as error:
            raise ConfigError(
                f"can't make a run directory in {work_dir}: {error.strerror or error}",
                where="--work-dir",
                fix=_fix_of(error),
            ) from error
        raise AssertionError("unreachable")

    @classmethod
    def open(cls, work_dir: Path, which: str) -> RunDirectory:
        """Go on in an existing run: ``latest`` or its timestamp.

        What a killed process left half done is made whole. Raises ConfigError if there is no such
        run, if another live process works in it, or if it can't be written to.
        """
        path = cls.find(work_dir, which)
        run = cls(path, _lock(path))
        try:
            _wait_for_workers(path)
            _make_folders(path)
            _remove_temporary(path)
        except OSError as error:
            run.close()
            raise _unwritable(path, error) from error
        except ConfigError:
            run.close()
            raise
        return run

    @classmethod
    def adopt(cls, path: Path) -> RunDirectory:
        """Take over the run that this process's own workers have begun, and work in now.

        A reader may hold the lock for a moment, to see whether the run is in use. Raises
        ConfigError, StorageError.
        """
        run = cls(path, _lock(path, LOOK_SECONDS))
        with storing(path):
            _make_folders(path)
        return run

    @classmethod
    def attach(cls, path: Path) -> RunDirectory:
        """Use a run directory without locking it: for readers."""
        return cls(path)

    @classmethod
    def join(cls, path: Path, worker: str) -> RunDirectory:
        """Use it as a worker of the process that made or opened it.

        Nobody opens it while a worker lives, which may be longer than that process.
        """
        with storing(path):
            (path / "journal").mkdir(parents=True, exist_ok=True)
            lock = filelock.FileLock(path / "journal" / f".lock-{worker}", thread_local=False)
            lock.acquire()
        return cls(path, lock)

    def has_worker(self, worker: str) -> bool:
        """Tell whether a process has joined under this name and lives."""
        path = self.journal / f".lock-{worker}"
        if not path.exists():
            return False
        try:
            with filelock.FileLock(path, timeout=0):
                return False
        except OSError:  # a Timeout too; where it can't be known, it may live
            return True

    @staticmethod
    def names(work_dir: Path) -> list[str]:
        """Return the runs that ``work_dir`` has, the oldest first."""
        return _runs(work_dir)

    @staticmethod
    def in_use(path: Path) -> bool:
        """Tell whether a live process works in the run; one that would begin now is in its way."""
        if not (path / ".lock").exists():
            return False
        try:
            with filelock.FileLock(path / ".lock", timeout=0):
                return False
        except filelock.Timeout:
            return True
        except OSError:  # not ours to write to
            return False

    @staticmethod
    def find(work_dir: Path, which: str) -> Path:
        """Return the path of the run ``which`` (``latest`` or a timestamp).

        Raises ConfigError if there is none, naming both forms and the nearest runs.
        """
        runs = _runs(work_dir)
        if which == "latest" and runs:
            return work_dir / runs[-1]
        if which in runs:
            return work_dir / which
        near = difflib.get_close_matches(which, runs, n=3, cutoff=0.5) or runs[:-4:-1]
        hint = f"Nearest runs: {', '.join(near)}" if near else "There are no runs"
        raise ConfigError(
            f"no run {which!r} in {work_dir}",
            where="--reuse",
            fix=f"Give 'latest' or a run's timestamp (YYYYMMDD_HHMMSS). {hint}",
        )

    @property
    def name(self) -> str:
        """The run's timestamp."""
        return self.path.name

    @property
    def configs(self) -> Path:
        """Snapshots of the effective configuration."""
        return self.path / "configs"

    @property
    def infer_logs(self) -> Path:
        """Logs of the inference stage."""
        return self.path / "logs" / "infer"

    @property
    def eval_logs(self) -> Path:
        """Logs of the scoring stage."""
        return self.path / "logs" / "eval"

    @property
    def summary(self) -> Path:
        """Summary tables."""
        return self.path / "summary"

    @property
    def journal(self) -> Path:
        """What has arrived and isn't merged yet, a file per process and kind."""
        return self.path / "journal"

    def prediction_file(self, model: str, dataset: str) -> Path:
        """Return where a model's merged predictions for a dataset lie."""
        return self.path / "predictions" / safe_name(model) / f"{safe_name(dataset)}.json"

    def judgement_file(self, judge: str, dataset: str) -> Path:
        """Return where a judge's replies on a dataset lie."""
        return self.path / "judgements" / safe_name(judge) / f"{safe_name(dataset)}.json"

    def result_file(self, model: str, dataset: str) -> Path:
        """Return where a model's metrics and details for a dataset lie."""
        return self.path / "results" / safe_name(model) / f"{safe_name(dataset)}.json"

    def close(self) -> None:
        """Give the lock back; closing twice is fine."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def __enter__(self) -> RunDirectory:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _make(path: Path) -> bool:
    try:
        path.mkdir()
    except FileExistsError:
        return False
    _make_folders(path)
    return True


def _make_folders(path: Path) -> None:
    for folder in ("configs", "logs/infer", "logs/eval", "journal", "summary"):
        (path / folder).mkdir(parents=True, exist_ok=True)


def _remove_temporary(path: Path) -> None:
    """Delete what a killed process had not written to the end."""
    for file in path.rglob(f"{TEMPORARY}*"):
        file.unlink()


def _lock(path: Path, patience: float = 0.0) -> filelock.BaseFileLock:
    # not thread-local: whichever thread ends the session may release it
    lock = filelock.FileLock(path / ".lock", thread_local=False)
    try:
        lock.acquire(timeout=patience)
    except filelock.Timeout:
        raise _in_use(path) from None
    except OSError as error:
        raise _unwritable(path, error) from error
    return lock


def _wait_for_workers(path: Path) -> None:
    """Give workers of a killed process the time to end; they notice that it is gone."""
    deadline = time.monotonic() + ORPHAN_SECONDS
    for file in sorted((path / "journal").glob(".lock-*")):
        try:
            with filelock.FileLock(file, timeout=max(0.0, deadline - time.monotonic())):
                pass
            file.unlink(missing_ok=True)  # Windows keeps one that is held open
        except filelock.Timeout:
            raise _in_use(path) from None


def _in_use(path: Path) -> ConfigError:
    return ConfigError(
        f"another process is working in the run {path}",
        where="--reuse",
        fix="Wait until it has ended, or start a new run without --reuse",
    )


def _unwritable(path: Path, error: OSError) -> ConfigError:
    return ConfigError(
        f"can't write to the run {path}: {error.strerror or error}",
        where="--work-dir",
        fix=_fix_of(error),
    )


def _fix_of(error: OSError) -> str:
    if error.errno in (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP):
        return "Choose a folder on another file system: this one has no file locks"
    return "Choose a folder that you may write to"


def next_time(work_dir: Path) -> str:
    """Return what a new run is named after: the time, or the latest run's if that is later."""
    return max([timestamp(), *(name[:15] for name in _runs(work_dir)[-1:])])


def _next_names(work_dir: Path) -> Iterator[str]:
    now = next_time(work_dir)
    latest = max((_order(name) for name in _runs(work_dir) if name.startswith(now)), default=())
    number = latest[-1] + 1 if latest else 1
    while True:
        yield now if number == 1 else f"{now}-{number}"
        number += 1


def _runs(work_dir: Path) -> list[str]:
    if not work_dir.is_dir():
        return []
    found = [p.name for p in work_dir.iterdir() if _RUN_NAME.fullmatch(p.name) and p.is_dir()]
    return sorted(found, key=_order)


def _order(name: str) -> tuple[int, ...]:
    match = _RUN_NAME.fullmatch(name)
    return tuple(int(part or 1) for part in match.groups()) if match else ()
