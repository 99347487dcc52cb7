"""The summary as files."""

from __future__ import annotations

__all__ = ["free_path", "write_summary"]

import itertools
from pathlib import Path

from pytest_evalplug.run.jsonio import dumps, write_atomic
from pytest_evalplug.summary.table import Table


def write_summary(table: Table, path: Path) -> list[Path]:
    """Write ``path``, a ``.txt``, and beside it ``.csv``, ``.md`` and ``.json``; return all."""
    texts = {
        ".txt": table.text() + "\n",
        ".csv": table.csv(),
        ".md": table.markdown() + "\n",
        ".json": dumps(table.to_wire()) + "\n",
    }
    paths = {path.with_suffix(suffix): text for suffix, text in texts.items()}
    for file, text in paths.items():
        write_atomic(file, text)
    return list(paths)


def free_path(folder: Path, time_str: str, kind: str = "summary") -> Path:
    """Return ``<kind>_<time>.txt``, with a number behind the time if there is such a file."""
    first = f"{kind}_{time_str}"
    names = itertools.chain([first], (f"{first}-{number}" for number in itertools.count(2)))
    return next(path for name in names if not (path := folder / f"{name}.txt").exists())
