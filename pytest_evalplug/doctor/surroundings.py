"""The sandbox for code that models write, and the terminal."""

from __future__ import annotations

__all__ = ["sandbox", "terminal"]

import locale
import shutil
import sys
from collections.abc import Iterator

from pytest_evalplug.doctor.check import Check, ok, warn
from pytest_evalplug.errors import EvalplugError
from pytest_evalplug.evaluation.sandbox import kinds
from pytest_evalplug.evaluation.sandbox.runner import best_kind, problem_of

_STRONG = "own process, network and file system"


def sandbox() -> Iterator[Check]:
    """Try the kinds of sandbox, the strongest first, and say what the best one is worth."""
    if not sys.platform.startswith("linux"):
        yield warn(
            "sandbox",
            f"none on {sys.platform}: benchmarks that run code give errors",
            "Run HumanEval, MBPP and the like on Linux, or in a container",
        )
        return
    try:
        kind = best_kind()
    except EvalplugError as error:
        yield warn("sandbox", f"{error.what}: benchmarks that run code give errors", error.fix)
        return
    if kind == kinds.KINDS[-1]:
        why = "; ".join(f"{other}: {problem_of(other)}" for other in kinds.KINDS[:-1])
        yield warn(
            "sandbox",
            f"{kind}, weak: limits and a filter of system calls, the files stay readable ({why})",
            "apt install bubblewrap, or allow user namespaces; in Docker --security-opt "
            "seccomp=unconfined",
        )
    else:
        yield ok("sandbox", f"{kind}: {_STRONG}")


def terminal() -> Iterator[Check]:
    """Say what the terminal can show."""
    encoding = (sys.stdout.encoding or locale.getpreferredencoding(False)).upper()
    width = shutil.get_terminal_size().columns
    text = f"{encoding}, {f'{width} columns' if sys.stdout.isatty() else 'no terminal'}"
    if encoding.replace("-", "") == "UTF8":
        yield ok("terminal", text)
    else:
        yield warn("terminal", text, "PYTHONUTF8=1 shows every letter as it is")
