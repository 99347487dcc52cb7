"""``evalplug list``: which benchmarks there are, and which of their data is at hand."""

from __future__ import annotations

__all__ = ["add_arguments", "run"]

import argparse
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_evalplug.dataset.catalogue import Entry


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the command's arguments."""
    parser.add_argument(
        "places",
        nargs="*",
        type=Path,
        metavar="PATH",
        help="module of benchmarks, or a folder of them (default: the shipped ones)",
    )
    parser.add_argument(
        "--tag",
        action="append",
        default=[],
        metavar="TAG",
        help="only those with this tag, as in -m tag_math; given twice, with both",
    )
    parser.add_argument("--json", action="store_true", help="print JSON, with all there is to say")
    add_data_dir(parser)


def add_data_dir(parser: argparse.ArgumentParser) -> None:
    """Define ``--data-dir``, with the default that pytest's option has."""
    parser.add_argument(
        "--data-dir",
        default=os.environ.get("EVALPLUG_DATA_DIR", ""),
        type=data_dirs,
        metavar="DIR",
        help="folder that holds datasets (default: EVALPLUG_DATA_DIR)",
    )


def data_dirs(text: str) -> list[Path]:
    """Return the folders of a text that joins them as in ``PATH``."""
    return [Path(part).expanduser() for part in text.split(os.pathsep) if part]


def run(args: argparse.Namespace) -> int:
    """Show the benchmarks; 1 if there are none."""
    from pytest_evalplug.dataset.catalogue import find_all
    from pytest_evalplug.marks import tag_mark

    wanted = {tag_mark(tag) for tag in args.tag}
    entries = [
        entry for entry in find_all(args.places) if wanted <= set(map(tag_mark, entry.meta.tags))
    ]
    facts = [_facts(entry, args.data_dir) for entry in entries]
    print(json.dumps(facts, ensure_ascii=False, indent=2) if args.json else _table(facts))
    return 0 if facts else 1


def _facts(entry: Entry, folders: list[Path]) -> dict[str, Any]:
    meta = entry.meta
    return {
        "name": entry.name,
        "pretty_name": meta.pretty_name,
        "description": meta.description,
        "samples": entry.published_samples(),
        "at_hand": entry.sizes(folders),
        "subsets": list(meta.subset_list),
        "tags": list(meta.tags),
        "modes": entry.modes,
        "shots": meta.few_shot_num,
        "scored_by": entry.scored_by,
        "module": str(entry.path),
    }


def _table(facts: list[dict[str, Any]]) -> str:
    from tabulate import tabulate

    from pytest_evalplug.report.text import clean

    if not facts:
        return "no benchmarks"
    rows = [
        {
            "benchmark": fact["name"],
            "samples": fact["samples"] or "-",
            "at hand": _at_hand(fact),
            "modes": " ".join(fact["modes"]),
            "shots": fact["shots"],
            "scored by": ", ".join(fact["scored_by"]),
            "tags": ", ".join(fact["tags"]),
        }
        for fact in facts
    ]
    return clean(tabulate(rows, headers="keys", disable_numparse=True))


def _at_hand(fact: dict[str, Any]) -> str:
    here, every = fact["at_hand"], fact["subsets"]
    if not here:
        return "-"
    part = f", {len(here)} of {len(every)} subsets" if len(here) < len(every) else ""
    return f"{sum(here.values()):,}{part}"
