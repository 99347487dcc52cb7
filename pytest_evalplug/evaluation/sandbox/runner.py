"""Running a program against a test, in a sandbox."""

from __future__ import annotations

__all__ = ["Limits", "Verdict", "run", "run_program"]

import asyncio
import marshal
import os
import shutil
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal
from weakref import WeakKeyDictionary

from pytest_evalplug.errors import EvalplugError, one_line
from pytest_evalplug.evaluation.sandbox import kinds
from pytest_evalplug.evaluation.sandbox.inside.job import Settings, Test
from pytest_evalplug.evaluation.sandbox.preparing import prepare
from pytest_evalplug.evaluation.waiting import wait_for

Status = Literal["pass", "fail", "timeout", "error"]
_START_SECONDS = 60.0
_GRACE_SECONDS = 2.0
_MOST_OUTPUT = 64 * 2**20


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
        return await _run(kind, program, prepared, test, timeout, limits)


def run(program: str, test: str = "", *, timeout: float, **options: Any) -> Verdict:
    """Do as :func:`run_program`, from plain code."""
    return wait_for(run_program(program, test, timeout=timeout, **options))


@cache
def best_kind() -> str:
    """Return the strongest kind that works here; tried once a process.

    Raises EvalplugError with what each kind said if none does.
    """
    if not sys.platform.startswith("linux"):
        raise EvalplugError(
            f"code is run on Linux only, not on {sys.platform}",
            where="sandbox",
            fix="Run it in a container.",
        )
    problems = []
    for kind in kinds.KINDS:
        problem = asyncio.run(_problem(kind))
        if not problem:
            return kind
        problems.append(f"{kind}: {problem}")
    raise EvalplugError("; ".join(problems), where="sandbox")


async def _problem(kind: str) -> str:
    """Return why a kind doesn't work here, or nothing."""
    test = prepare("import csv\nassert f(2) == 4")
    try:
        verdict = await _run(
            kind, "import decimal\ndef f(x):\n    return x * x", test, "", 60.0, Limits()
        )
    except EvalplugError as error:
        return error.what
    return "" if verdict.passed else f"{verdict.status}: {verdict.reason}"


async def _run(
    kind: str, program: str, prepared: Test, test: str, timeout: float, limits: Limits
) -> Verdict:
    command = kinds.command(kind)
    if command is None:
        raise EvalplugError("not installed", where="sandbox")
    async with _private_folder(kind) as private:
        settings = Settings(
            kind=kind,
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
        lines, output = await _execute(
            command, _framed(settings) + _framed(prepared), timeout, limits.output
        )
        seconds = time.monotonic() - start
    text = output.decode("utf-8", "replace")
    if not lines or lines[0] != "ready":
        raise EvalplugError(
            f"the sandbox ({kind}) does not start: {one_line(text[-500:], 400) or 'no message'}",
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


async def _execute(
    command: list[str], job: bytes, timeout: float, keep: int
) -> tuple[list[str], bytes]:
    """Start the sandbox, return the checker's lines and the beginning of all output."""
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=kinds.ENVIRONMENT,
            cwd="/",
            start_new_session=True,
        )
    except OSError as error:
        raise EvalplugError(f"cannot start {command[0]}: {error}", where="sandbox") from error
    output = asyncio.create_task(_beginning(process.stderr, keep))
    try:
        lines = await _lines(process, job, timeout)
        # all of its processes are dead when this one is
        await asyncio.wait_for(process.wait(), _GRACE_SECONDS)
    except (TimeoutError, asyncio.TimeoutError):
        lines = ["ready", "timeout", "0", ""]
    finally:
        await _end(process)
    try:
        return lines, await asyncio.wait_for(output, _GRACE_SECONDS)
    except (TimeoutError, asyncio.TimeoutError):
        return lines, b""


async def _lines(process: asyncio.subprocess.Process, job: bytes, timeout: float) -> list[str]:
    """Hand over the job; return the lines that come back until the time is up, with some grace."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(job)
        await process.stdin.drain()
    except OSError:
        pass  # it didn't start, as the missing first line will tell
    finally:
        process.stdin.close()
    first = await asyncio.wait_for(process.stdout.readline(), _START_SECONDS)
    rest = await asyncio.wait_for(process.stdout.read(), timeout + _GRACE_SECONDS)
    return (first + rest).decode("utf-8", "replace").split("\n")


async def _end(process: asyncio.subprocess.Process) -> None:
    for end in (process.terminate, process.kill):
        if process.returncode is None:
            try:
                end()
                await asyncio.wait_for(process.wait(), _GRACE_SECONDS)
            except (ProcessLookupError, TimeoutError, asyncio.TimeoutError):
                continue


async def _beginning(stream: asyncio.StreamReader | None, keep: int) -> bytes:
    """Read a stream to its end, or until it is absurdly long, and return its beginning."""
    assert stream is not None
    kept, total = bytearray(), 0
    while total < _MOST_OUTPUT and (part := await stream.read(2**16)):
        kept += part[: keep - len(kept)]
        total += len(part)
    return bytes(kept)


@asynccontextmanager
async def _private_folder(kind: str) -> AsyncIterator[str]:
    """Give a folder to write to, where the sandbox has no file system of its own for that."""
    if kind != "rlimits":
        yield ""
        return
    folder = tempfile.mkdtemp(prefix="evalplug-")
    try:
        yield folder
    finally:
        await asyncio.to_thread(_remove, folder)


def _remove(folder: str) -> None:
    # nested beyond all measure, it stays in the temporary folder and harms nobody
    with suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)


def _slots() -> asyncio.Semaphore:
    """Return the running loop's semaphore: a slot for each core, shared with xdist's workers."""
    loop = asyncio.get_running_loop()
    if loop not in _semaphores:
        workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
        cores = len(os.sched_getaffinity(0))
        _semaphores[loop] = asyncio.Semaphore(max(1, cores // max(1, workers)))
    return _semaphores[loop]


_semaphores: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()
