"""``evalplug docs``: the page of a benchmark."""

from __future__ import annotations

__all__ = ["add_arguments", "run"]

import argparse
from pathlib import Path

from pytest_evalplug.commands.list import add_data_dir


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the command's arguments."""
    parser.add_argument("name", metavar="NAME", help="benchmark, as evalplug list shows it")
    parser.add_argument(
        "places",
        nargs="*",
        type=Path,
        metavar="PATH",
        help="module of benchmarks, or a folder of them (default: the shipped ones)",
    )
    parser.add_argument("--lang", choices=("en", "zh"), default="en", help="default: en")
    add_data_dir(parser)


def run(args: argparse.Namespace) -> int:
    """Print the page."""
    from pytest_evalplug.dataset.catalogue import find
    from pytest_evalplug.report.pages import page

    entry = find(args.name, args.places)
    print(page(entry, args.lang, args.data_dir, rendered=False), end="")
    return 0
