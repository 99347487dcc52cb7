"""``evalplug import``: another tool's replies, to be scored by our Evaluators."""

from __future__ import annotations

__all__ = ["add_arguments", "run"]

import argparse
import shlex
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the command's arguments."""
    parser.add_argument(
        "folder", type=Path, help="run folder of OpenCompass, or output folder of lm-eval"
    )
    parser.add_argument("--model", metavar="NAME", help="only the replies of this model")
    parser.add_argument(
        "--dataset",
        action="append",
        default=[],
        metavar="THEIRS[=OURS]",
        help="only this dataset, and what it is called here (a benchmark, or BENCHMARK-SUBSET)",
    )
    parser.add_argument(
        "--work-dir",
        type=Path,
        default=Path("outputs"),
        help="folder that gets the new run (default: outputs)",
    )


def run(args: argparse.Namespace) -> int:
    """Make the run directory and say how to score it."""
    from pytest_evalplug.report.text import clean
    from pytest_evalplug.run.foreign.importing import import_run
    from pytest_evalplug.run.saved_run import open_foreign

    names = (word.partition("=") for word in args.dataset)
    datasets = {theirs: ours or theirs for theirs, _, ours in names}
    imported = import_run(open_foreign(args.folder), args.work_dir, args.model, datasets)
    for (model, dataset), count in imported.counts.items():
        print(clean(f"{count} replies of {model} as {dataset}"))
    for left_out in imported.left_out:
        print(clean(f"left out: {left_out}"))
    ours = list(dict.fromkeys(dataset for _, dataset in imported.counts))
    module = f"benchmarks/test_{ours[0]}.py" if len(ours) == 1 else "benchmarks"
    command = ["pytest", module, "--reuse", imported.run.name, "--mode", "eval"]
    if args.work_dir != Path("outputs"):
        command += ["--work-dir", str(args.work_dir)]
    print(f"score them: {clean(shlex.join(command))}")
    return 0
