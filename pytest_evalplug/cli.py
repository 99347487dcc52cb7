"""The ``evalplug`` command; a subcommand's code is imported when it is called."""

from __future__ import annotations

__all__ = ["main"]

import argparse
import os
import sys
from collections.abc import Sequence

from pytest_evalplug.errors import EvalplugError


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status: 2 is a usage or file error."""
    args = _parser().parse_args(argv)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that can't show a letter gets its number
            stream.reconfigure(errors="backslashreplace")
    try:
        status: int = args.run(args)
    except EvalplugError as error:
        print(f"evalplug {args.command}: error: {error}", file=sys.stderr)  # as argparse does
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # whoever reads has seen enough, as in "| head"
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="evalplug", description="LLM benchmarks under pytest.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_cases(commands)
    return parser


def _add_cases(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Define ``evalplug cases``."""
    summary = "check postprocessors and Evaluators against files of labelled cases"
    parser = commands.add_parser("cases", help=summary, description=summary)
    parser.add_argument(
        "files", nargs="*", metavar="FILE", help="file of cases (default: the shipped rules' own)"
    )
    parser.add_argument(
        "--postprocessor",
        action="append",
        metavar="RULE",
        help="rule to try instead of the shipped one: a registered name or MODULE:FUNCTION, with"
        ' options as in \'after:{"marker": "####"}\'; several are applied in this order',
    )
    parser.add_argument(
        "--kind", metavar="NAME", help="kind of cases (default: told by the fields of the rows)"
    )
    parser.add_argument(
        "-q", "--quiet", action="store_true", help="leave out the counts of each kind of case"
    )
    parser.set_defaults(run=_run_cases)


def _run_cases(args: argparse.Namespace) -> int:
    from pytest_evalplug.report.cases import show_cases

    return show_cases(args.files, args.postprocessor or (), args.kind, quiet=args.quiet)


if __name__ == "__main__":
    sys.exit(main())
