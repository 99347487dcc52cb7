"""``evalplug cases``: labelled cases checked and reported in a terminal."""

from __future__ import annotations

__all__ = ["show_cases"]

import importlib
import json
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from pytest_evalplug.errors import ConfigError, EvalplugError, one_line
from pytest_evalplug.evaluation.cases import CaseFile, Outcome, Report, shipped_files
from pytest_evalplug.report.text import SHOWN, clean, ending, shorten
from pytest_evalplug.run.jsonio import dumps


def show_cases(
    files: Sequence[str | os.PathLike[str]],
    rules: Sequence[str] = (),
    kind: str | None = None,
    *,
    quiet: bool = False,
) -> int:
    """Check ``files`` (none: the shipped ones) and print what came of each as soon as it is done.

    Returns the exit status: 0 if all is right, 1 after a miss, 2 if a file could not be checked,
    which is said at once; the others are checked all the same. Raises ConfigError for ``rules``
    that can't be read.
    """
    steps = [_read_rule(rule) for rule in rules] or None
    paths = files or shipped_files()
    loaded = [_load(path, kind, steps) for path in paths]
    reports = [report for file in loaded if file and (report := _check(file, quiet=quiet))]
    total, right = sum(r.total for r in reports), sum(r.right for r in reports)
    if len(paths) > 1:
        unchecked = len(paths) - len(reports)
        failed = f"; {unchecked} not checked" if unchecked else ""
        print(f"{right}/{total} right in {len(reports)} files{failed}")
    if len(reports) < len(paths):
        return 2
    return 0 if right == total else 1


def _load(path: str | os.PathLike[str], kind: str | None, steps: Any) -> CaseFile | None:
    try:
        return CaseFile.load(path, kind=kind, postprocessor=steps)
    except EvalplugError as error:
        _print_error(error)
    return None


def _check(file: CaseFile, *, quiet: bool) -> Report | None:
    try:
        report = file.check()
    except EvalplugError as error:
        _print_error(error)
        return None
    print(f"{file.path}: {report.right}/{report.total} right")
    if not quiet:
        print(*_counts(report), sep="\n")
    for outcome in report.misses:
        print(*_miss(outcome), sep="\n")
    sys.stdout.flush()
    return report


def _print_error(error: EvalplugError) -> None:
    """Print an error as argparse prints its own."""
    print(f"evalplug cases: error: {clean(error)}", file=sys.stderr, flush=True)


def _counts(report: Report) -> Iterator[str]:
    counts = report.by_kind()
    width = max(map(len, counts))
    for kind, (right, total) in counts.items():
        yield f"  {clean(kind):<{width}}  {right}/{total}"


def _miss(outcome: Outcome) -> Iterator[str]:
    finding = outcome.finding
    yield f"  MISS {clean(outcome.id)} ({clean(outcome.kind)}): {clean(outcome.why)}"
    for name, text in (
        ("input", ending(finding.input)),
        ("expected", shorten(dumps(finding.expected), SHOWN)),
        ("got", shorten(dumps(finding.got), SHOWN)),
    ):
        first, *rest = text.split("\n")
        yield f"    {name + ':':<10}{first}"
        yield from (f"{'':14}{line}" for line in rest)


def _read_rule(text: str) -> dict[str, Any]:
    """Return ``NAME``, ``MODULE:FUNCTION`` or either with ``:{options as JSON}`` as in eval_cfg."""
    name, brace, options = text.partition(":{")
    where = f"--postprocessor {text}"
    try:
        configured = json.loads(brace[1:] + options or "{}")
    except (ValueError, RecursionError) as error:
        raise ConfigError(
            f"options are JSON: {error}", where=where, fix='Write NAME:{"option": "value"}'
        ) from None
    return {**configured, "type": _function(name, where) if ":" in name else name}


def _function(name: str, where: str) -> Any:
    """Return the function that ``module:function`` names, the working directory looked in first."""
    module, _, attribute = name.partition(":")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())  # as python -m does; a console script leaves it out
    try:
        return getattr(importlib.import_module(module), attribute)
    except Exception as error:  # a user's module may fail in any way
        raise ConfigError(f"not importable: {one_line(error)}", where=where) from error
