"""``evalplug cases``: rules against labelled cases."""

from __future__ import annotations

__all__ = ["add_arguments", "run"]

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the command's arguments."""
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


def run(args: argparse.Namespace) -> int:
    """Check the cases; 1 if one is wrong."""
    from pytest_evalplug.report.cases import show_cases

    return show_cases(args.files, args.postprocessor or (), args.kind, quiet=args.quiet)
