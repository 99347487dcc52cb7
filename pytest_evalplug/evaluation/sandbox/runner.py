"""Running a program against a test, in a sandbox."""

from __future__ import annotations

__all__ = ["Limits", "Verdict", "run", "run_program"]

import asyncio
import marshal
import os
import secrets
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal
from weakref import WeakKeyDictionary

from pytest_evalplug.errors import EvalplugError, one_line
from pytest_evalplug.evaluation.sandbox import kinds
from pytest_evalplug.evaluation.sandbox.executing import execute
from pytest_evalplug.evaluation.sandbox.inside.job import Settings, Test
from pytest_evalplug.evaluation.sandbox.preparing import prepare
from pytest_evalplug.evaluation.waiting import wait_for

Status = Literal["pass", "fail", "timeout", "error"]


@dataclass(frozen=True, slots=True)
class Limits:
    """What one execution may use: bytes of memory (of each process), of a file and of output
    that is kept, and how many processes and threads.
    """  # noqa: D205

    memory: int = 2 * 2**30
    file_size: int = 64 * 2**20
    output: int = 16 * 2**10
    processes: int = 64


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of one execution.

    ``pass``: the test ran to its end and everything it checks holds. ``fail``: a check failed.
    ``timeout``: stopped at the limit. ``error``: the program or the test raised or ended early, or
    the test checked nothing. ``output`` is the beginning of what the program and the test
    printed. ``sandbox`` is the kind, and ``note`` says what is weak about it.
    """

    status: Status
    reason: str
    output: str
    seconds: float
    sandbox: str
    note: str = ""

    @property
    def passed(self) -> bool:
        """Whether the program is right."""
        return self.status == "pass"


async def run_program(
    program: str,
    test: str = "",
    *,
    timeout: float,
    setup: str = "",
    limits: Limits = Limits(),
    kind: str | None = None,
) -> Verdict:
    """Run ``program``, then ``test`` on what it defines, with ``timeout`` seconds for both.

    The test runs in a process of its own, with ``setup`` (trusted code, like the helpers of a
    prompt) before it; the program's functions are called, and values exchanged, between the two.
    ``kind`` asks for a sandbox other than the best. As many run at once as there are cores.
    Raises EvalplugError if the sandbox can't be had or doesn't start, or ``test`` isn't Python.
    """
    prepared = prepare(test, setup)
    if kind is None:
        kind = await asyncio.to_thread(best_kind)
    async with _slots():
        return await asyncio.to_thread(_run_twice, kind, program, prepared, test, timeout, limits)


def run(program: str, test: str = "", *, timeout: float, **options: Any) -> Verdict:
    """Do as :func:`run_program`, from plain code."""
    return wait_for(run_program(program, test, timeout=timeout, **options))


def best_kind() -> str:
    """Return the strongest kind that works here; tried once a process.

    Raises EvalplugError with what each kind said if none does.
    """
    with _probing:
        kind, problems = _probe()
    if not kind:
        raise EvalplugError(
            f"no sandbox works here: {problems}", where="sandbox", fix="Install bubblewrap."
        )
    return kind


@cache
def _probe() -> tuple[str, str]:
    """Return the strongest kind that works, or none, and why others don't."""
    if not sys.platform.startswith("linux"):
        return "", f"code is run on Linux only, not on {sys.platform}"
    problems = []
    for kind in kinds.KINDS:
        problem = problem_of(kind)
        if not problem:
            return kind, ""
        problems.append(f"{kind}: {problem}")
    return "", "; ".join(problems)


def problem_of(kind: str) -> str:
    """Return why a kind doesn't work here, or nothing."""
    test = prepare("import csv\nassert f(2) == 4")
    try:
        verdict = _run(
            kind, "import decimal\ndef f(x):\n    return x * x", test, "", 60.0, Limits()
        )
    except EvalplugError as error:
        return error.what
    return "" if verdict.passed else f"{verdict.status}: {verdict.reason}"


def _run_twice(kind: str, *arguments: Any) -> Verdict:
    try:
        return _run(kind, *arguments)
    except EvalplugError:  # no program has run: the machine may have been short of something
        return _run(kind, *arguments)


def _run(
    kind: str, program: str, prepared: Test, test: str, timeout: float, limits: Limits
) -> Verdict:
    command = kinds.command(kind)
    if command is None:
        raise EvalplugError("not installed", where="sandbox")
    with _private_folder(kind) as private:
        settings = Settings(
            kind=kind,
            owner=0x70000000 + secrets.randbelow(2**27),
            visible=kinds.visible_paths(),
            private=private,
            seconds=timeout,
            memory=limits.memory,
            file_size=limits.file_size,
            processes=limits.processes,
            search=kinds.search_path(),
            program=program,
        )
        start = time.monotonic()
        job = _framed(settings) + _framed(prepared)
        lines, output, code = execute(command, job, timeout, limits.output)
        seconds = time.monotonic() - start
    text = output.decode("utf-8", "replace")
    if lines[0] != "ready":
        raise EvalplugError(
            f"the sandbox ({kind}) does not start: exit status {code}, "
            f"{one_line(text.strip().rpartition(chr(10))[2], 400) or 'no message'}",
            where="sandbox",
        )
    status, reason = _verdict(lines[1:], test, timeout)
    return Verdict(status, reason, text, seconds, kind, kinds.NOTES[kind])


def _framed(value: Any) -> bytes:
    data = marshal.dumps(value)
    return len(data).to_bytes(8, "little") + data


def _verdict(lines: list[str], test: str, timeout: float) -> tuple[Status, str]:
    if len(lines) < 3:
        return "error", "the test was ended before it could finish"
    status, line, reason = lines[0], int(lines[1]), lines[2]
    if line:
        source = test.split("\n")[line - 1].strip() if line <= test.count("\n") + 1 else ""
        reason = f"{reason.rstrip(': ')} (line {line} of the test: {one_line(source)})"
    if status == "timeout":
        reason = f"stopped after {timeout:g} s"
    return next(s for s in ("pass", "fail", "timeout", "error") if s == status), reason


@contextmanager
def _private_folder(kind: str) -> Iterator[str]:
    """Give a folder to write to, where the sandbox has no file system of its own for that."""
    if kind != "rlimits":
        yield ""
        return
    folder = tempfile.mkdtemp(prefix="evalplug-")
    try:
        yield folder
    finally:
        # nested beyond all measure, it stays in the temporary folder and harms nobody
        with suppress(RecursionError):
            shutil.rmtree(folder, ignore_errors=True)


_probing = threading.Lock()


def _slots() -> asyncio.Semaphore:
    """Return the running loop's semaphore: a slot for each core, shared with xdist's workers."""
    loop = asyncio.get_running_loop()
    if loop not in _semaphores:
        workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
        cores = len(os.sched_getaffinity(0))
        _semaphores[loop] = asyncio.Semaphore(max(1, cores // max(1, workers)))
    return _semaphores[loop]


_semaphores: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()
