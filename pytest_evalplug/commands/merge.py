"""``evalplug merge``: the shards of a run as one run."""

from __future__ import annotations

__all__ = ["add_arguments", "run"]

import argparse
from pathlib import Path

from pytest_evalplug.option_table import OPTIONS

_TAKEN = (
    *("work_dir", "data_dir", "summarizer", "gate", "baseline", "max_drop", "significance"),
    *("json", "junit"),
)
"""Those of pytest's options that speak of the end of a run."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the command's arguments."""
    parser.add_argument(
        "runs",
        nargs="+",
        type=Path,
        metavar="RUN",
        help="run directory of a shard, or a folder that holds them, at any depth",
    )
    for option in OPTIONS:
        if option.name in _TAKEN:
            parser.add_argument(
                *filter(None, ("-o" if option.name == "work_dir" else "", option.short)),
                option.flag,
                dest=option.name,
                action="append",
                default=[],
                metavar=option.kwargs.get("metavar"),
                help=option.help,
            )
    parser.add_argument(
        "--junitxml",
        action="append",
        default=[],
        metavar="FILE",
        help="write the scores and gates as JUnit XML to this file",
    )


def run(args: argparse.Namespace) -> int:
    """Merge, show the summary, and return 1 if a gate is not reached."""
    from pytest_evalplug.report.merge import merge_runs

    given = [(option.flag, getattr(args, option.name, [])) for option in OPTIONS]
    given = [(flag, values) for flag, values in given if isinstance(values, list)]
    options = [f"{flag}={value}" for flag, values in given for value in values]
    options += [f"--junitxml={file}" for file in args.junitxml]
    return merge_runs(args.runs, options)
