"""``evalplug compare``: what differs between runs, and is it more than chance?"""

from __future__ import annotations

__all__ = ["add_arguments", "run"]

import argparse
import sys
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the command's arguments."""
    parser.add_argument(
        "runs",
        nargs="+",
        metavar="RUN[:MODEL]",
        help="folder or timestamp of a run, of OpenCompass or lm-eval too; the first is compared"
        " with each of the others",
    )
    parser.add_argument(
        "--model",
        action="append",
        default=[],
        metavar="NAME",
        help="compare this model; given twice, the first with the second, in one run or two",
    )
    parser.add_argument(
        "--dataset",
        action="append",
        default=[],
        metavar="NAME[=NEW]",
        help="only this dataset, called NEW in the other runs",
    )
    parser.add_argument(
        "--work-dir", type=Path, default=Path("outputs"), help="where runs lie (default: outputs)"
    )
    parser.add_argument(
        "--flips",
        type=_count,
        default=5,
        metavar="N",
        help="show N flipped samples of each kind and dataset (default: 5); JSON has all",
    )
    parser.add_argument("--format", choices=("text", "markdown", "json"), default="text")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write to FILE instead")


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number")
    return int(text)


def run(args: argparse.Namespace) -> int:
    """Show the comparison; its outcome is no failure, so the status is 0."""
    from pytest_evalplug.report.comparison import as_json, as_markdown, as_text
    from pytest_evalplug.run.jsonio import write_atomic
    from pytest_evalplug.run.saved_run import open_saved
    from pytest_evalplug.summary.run_comparison import Side, compare_sides, pair_sides

    def side(word: str) -> Side:
        path, _, model = word.rpartition(":")
        if path and not Path(word).is_dir():
            return Side(open_saved(path, args.work_dir)).of(model)
        return Side(open_saved(word, args.work_dir))

    names = (word.partition("=") for word in args.dataset)
    datasets = {old: new or old for old, _, new in names}
    pairs = pair_sides([side(word) for word in args.runs], args.model)
    found = [compare_sides(old, new, datasets) for old, new in pairs]
    if args.format == "json":
        text = as_json(found)
    else:
        text = (as_text if args.format == "text" else as_markdown)(found, args.flips)
    if args.output:
        write_atomic(args.output, text)
    else:
        sys.stdout.write(text)
    return 0
