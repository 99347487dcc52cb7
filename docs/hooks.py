"""Makes the pages of the benchmarks while mkdocs builds the site."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the rows that the tests have written by hand

from pytest_evalplug.dataset.catalogue import Entry, find_all  # noqa: E402
from pytest_evalplug.report.pages import index, page  # noqa: E402
from tests.benchmarks.hub_rows import HUB_ROWS  # noqa: E402

FOLDERS = {"en": "benchmarks", "zh": "zh/benchmarks"}


def on_files(files: Any, config: Any) -> Any:
    """Add a page for each benchmark and an index, in each language."""
    entries = find_all([ROOT / "benchmarks"])
    data_dir = Path(os.environ.get("EVALPLUG_DATA_DIR", ROOT.parent / "shared" / "data"))
    with tempfile.TemporaryDirectory() as folder:
        made_up = Path(folder)
        write_rows(made_up, entries)
        for language, place in FOLDERS.items():
            pages = {
                entry.name: page(entry, language, [data_dir], made_up=[made_up])
                for entry in entries
            }
            for name, text in {"index": index(entries, language), **pages}.items():
                files.append(File.generated(config, f"{place}/{name}.md", content=text))
    return files


def write_rows(folder: Path, entries: Sequence[Entry]) -> None:
    """Write the rows made by hand as a data directory."""
    for entry in entries:
        meta = entry.meta
        shared = len(meta.subset_list) == 1 or meta.reformat_subset
        place = folder / (meta.data_name or meta.name) / ("" if shared else meta.subset_list[0])
        for split, rows in HUB_ROWS.get(entry.name, {}).items():
            place.mkdir(parents=True, exist_ok=True)
            text = "".join(f"{json.dumps(row)}\n" for row in rows)
            (place / f"{split}.jsonl").write_text(text, encoding="utf-8")
