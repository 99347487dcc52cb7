"""Cases of what is read from files: datasets and journals."""

from __future__ import annotations

__all__ = ["check_dataset_rows", "check_journal"]

import base64
import logging
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pytest_evalplug.dataset.readers import read_table
from pytest_evalplug.dataset.table import Record
from pytest_evalplug.errors import DataError
from pytest_evalplug.evaluation.cases.report import Finding
from pytest_evalplug.run.journal import scan_journal

# skipped lines are what its cases are about: without any handler the warnings go to stderr
logging.getLogger(scan_journal.__module__).addHandler(logging.NullHandler())


def check_journal(row: Record, steps: tuple[()]) -> Finding:
    """Compare the ids of the records that a journal gives back."""
    data = base64.b64decode(row["bytes_b64"])
    with TemporaryDirectory() as folder:
        path = Path(folder, "journal.jsonl")
        path.write_bytes(data)
        kept = {record["id"] for _, record in scan_journal(path) if "id" in record}
    return Finding.compare(_shown(data), sorted(row["kept_ids"]), sorted(kept))


def check_dataset_rows(row: Record, steps: tuple[()]) -> Finding:
    """Compare the records that a file holds, or expect an error."""
    data = base64.b64decode(row["file_b64"])
    got: Any
    with TemporaryDirectory() as folder:
        path = Path(folder, f"test.{row['format']}")
        path.write_bytes(data)
        try:
            got = read_table(path).records
        except DataError:
            got = {"error": True}
    return Finding.compare(_shown(data), row["expected_rows"], got)


def _shown(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")
