"""The ``evalplug`` command; a subcommand's code is imported when it is called."""

from __future__ import annotations

__all__ = ["main"]

import argparse
import importlib
import keyword
import os
import sys
from collections.abc import Sequence

from pytest_evalplug.errors import EvalplugError

COMMANDS = {
    "list": "say which benchmarks there are, and which of their data is at hand",
    "docs": "show the page of a benchmark",
    "new": "write a benchmark and its test, from a template or a shipped benchmark",
    "compare": "say how runs differ, sample by sample",
    "cases": "check postprocessors and Evaluators against files of labelled cases",
    "import": "take over another tool's replies, to score them",
    "merge": "join the shards of a run into one run",
    "view": "show runs in the browser, those that are going on too",
    "doctor": "say what is wrong with this machine and its settings, and how to mend it",
}
"""Name -> summary; the modules are in :mod:`pytest_evalplug.commands`."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status: 2 is a usage or file error."""
    words = list(sys.argv[1:] if argv is None else argv)
    args = _parse(words)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that can't show a letter gets its number
            stream.reconfigure(errors="backslashreplace")
    try:
        status: int = args.run(args)
    except EvalplugError as error:
        from pytest_evalplug.report.text import clean

        # as argparse does
        print(f"evalplug {args.command}: error: {clean(error)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # whoever reads has seen enough, as in "| head"
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    return status


def _parse(words: Sequence[str]) -> argparse.Namespace:
    """Return the arguments; only the called command's module is imported."""
    name, *rest = words or ("",)
    if name not in COMMANDS:
        return _overview().parse_args(words)
    module = importlib.import_module(f"pytest_evalplug.commands.{_module(name)}")
    parser = argparse.ArgumentParser(prog=f"evalplug {name}", description=COMMANDS[name])
    module.add_arguments(parser)
    parser.set_defaults(command=name, run=module.run)
    # a subparser's own way would not take a path behind an option
    return parser.parse_intermixed_args(rest)


def _overview() -> argparse.ArgumentParser:
    """Return the parser of a line without a command: for the help and the usage errors."""
    parser = argparse.ArgumentParser(prog="evalplug", description="LLM benchmarks under pytest.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, summary in COMMANDS.items():
        commands.add_parser(name, help=summary)
    return parser


def _module(name: str) -> str:
    return f"{name}_" if keyword.iskeyword(name) else name


if __name__ == "__main__":
    sys.exit(main())
