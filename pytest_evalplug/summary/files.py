"""The summary as files."""

from __future__ import annotations

__all__ = ["write_summary"]

import itertools
from pathlib import Path

from pytest_evalplug.run.directory import RunDirectory, timestamp
from pytest_evalplug.run.jsonio import dumps, write_atomic
from pytest_evalplug.summary.table import Table


def write_summary(run: RunDirectory, table: Table) -> list[Path]:
    """Write ``summary/summary_<time>.txt``, ``.csv``, ``.md`` and ``.json``; return the paths."""
    stem = _free_stem(run.summary)
    texts = {
        "txt": table.text() + "\n",
        "csv": table.csv(),
        "md": table.markdown() + "\n",
        "json": dumps(table.to_wire()) + "\n",
    }
    paths = []
    for suffix, text in texts.items():
        path = run.summary / f"{stem}.{suffix}"
        write_atomic(path, text)
        paths.append(path)
    return paths


def _free_stem(folder: Path) -> str:
    first = f"summary_{timestamp()}"
    names = itertools.chain([first], (f"{first}-{number}" for number in itertools.count(2)))
    return next(name for name in names if not (folder / f"{name}.txt").exists())
