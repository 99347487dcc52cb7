"""``report/index.html``: a run in one file that opens from the disk."""

from __future__ import annotations

__all__ = ["blocks", "compressed", "write_report"]

import base64
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_evalplug.report.strict import strict_json
from pytest_evalplug.report.viewer.bundle import page
from pytest_evalplug.report.viewer.overview import GATES, overview, table_key
from pytest_evalplug.report.viewer.samples import SampleTable
from pytest_evalplug.run.jsonio import write_atomic
from pytest_evalplug.run.saved_run import SavedRun

LEVEL = 1


def write_report(run: SavedRun, *, gates: Sequence[Mapping[str, Any]] = ()) -> Path:
    """Write the run's page and return its path, ``report/index.html`` in the run.

    ``gates`` are kept beside it, for the server. Only one dataset's index and one chunk of texts
    are in memory at a time. Raises DataError if a file of the run is damaged.
    """
    path = run.path / "report" / "index.html"
    write_atomic(path.parent / GATES, strict_json(list(gates)) + "\n")
    write_atomic(path, page((name, _embedded(text)) for name, text in blocks(run)))
    return path


def blocks(run: SavedRun) -> Iterator[tuple[str, str]]:
    """Yield names and JSON texts: ``run``, then for each table its chunks and its index."""
    yield "run", strict_json(overview(run))
    for number, (model, dataset) in enumerate(run.tables()):
        result = run.result(model, dataset)
        if result is None:
            continue
        key = table_key(number)
        table = SampleTable(result, run.records(model, dataset))
        for chunk, text in enumerate(table.chunks()):
            yield f"{key}/{chunk}", text
        yield f"{key}/index", table.index()


def compressed(text: str) -> bytes:
    """Return ``text`` gzipped, the same for the same text."""
    packer = zlib.compressobj(LEVEL, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    return packer.compress(text.encode()) + packer.flush()


def _embedded(text: str) -> str:
    return base64.b64encode(compressed(text)).decode("ascii")
