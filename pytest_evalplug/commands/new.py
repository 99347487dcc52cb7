"""``evalplug new``: a benchmark to begin with."""

from __future__ import annotations

__all__ = ["add_arguments", "run"]

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the command's arguments."""
    parser.add_argument("name", metavar="NAME", help="the new benchmark's name")
    parser.add_argument(
        "folder",
        nargs="?",
        type=Path,
        default=Path(),
        metavar="DIR",
        help="folder that gets the files (default: the current one)",
    )
    parser.add_argument(
        "--type",
        choices=("qa", "mcq"),
        help="qa: a free, short answer (default); mcq: one of several choices",
    )
    parser.add_argument(
        "--from",
        dest="source",
        metavar="BENCHMARK",
        help="copy a shipped benchmark instead of a template",
    )


def run(args: argparse.Namespace) -> int:
    """Write the files and say how to run them."""
    from pytest_evalplug.dataset.catalogue import find
    from pytest_evalplug.errors import ConfigError
    from pytest_evalplug.scaffold import check_free, copied_files, new_files, write_files

    if args.source and args.type:
        raise ConfigError("--from and --type exclude each other")
    check_free(args.name)
    if args.source:
        files = copied_files(args.name, find(args.source))
    else:
        files = new_files(args.name, args.type or "qa")
    written = write_files(files, args.folder)
    for path in written:
        print(f"wrote {path}")
    module, rules, *_ = written
    print(f"ask a model:  pytest {module} --model=smollm2 --limit 2")
    print(f"test it:      pytest {rules}")
    return 0
