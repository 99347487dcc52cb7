"""Talking to the process of one sandbox from its start to its end."""

from __future__ import annotations

__all__ = ["execute"]

import os
import select
import selectors
import signal
import subprocess
import time
from contextlib import suppress

from pytest_evalplug.errors import EvalplugError
from pytest_evalplug.evaluation.sandbox.kinds import ENVIRONMENT

_START_SECONDS = 60.0
_GRACE_SECONDS = 2.0  # in which the checker, which has the same limit, ends everything by itself
_MOST_OUTPUT = 64 * 2**20


def execute(
    command: list[str], job: bytes, timeout: float, keep: int
) -> tuple[list[str], bytes, int]:
    """Start a sandbox, hand over the job; return the checker's lines, output and exit status.

    All processes of the sandbox are dead then. Blocks for as long as that takes: at most
    ``timeout`` seconds after the start and some grace. Raises EvalplugError if nothing starts.
    """
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=ENVIRONMENT,
            cwd="/",
            start_new_session=True,
            bufsize=0,
        )
    except OSError as error:
        raise EvalplugError(f"cannot start {command[0]}: {error}", where="sandbox") from error
    talk = _Talk(process, job, keep)
    try:
        talk.until_the_end(timeout)
    finally:
        _end(process)
        output = talk.rest_of_output()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()
    return talk.lines(), output, process.wait()


class _Talk:
    def __init__(self, process: subprocess.Popen[bytes], job: bytes, keep: int) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._process = process
        self._job, self._keep = memoryview(job), keep
        self._in, self._answers, self._output = process.stdin, process.stdout, process.stderr
        self._said, self._printed, self._total = b"", bytearray(), 0
        self._timed_out = False

    def lines(self) -> list[str]:
        """Return what the checker said; that it timed out where it couldn't say so."""
        if self._timed_out:
            return [*self._said.decode("utf-8", "replace").split("\n")[:1], "timeout", "0", ""]
        return self._said.decode("utf-8", "replace").split("\n")

    def until_the_end(self, timeout: float) -> None:
        """Exchange what there is until the process ends or has had its time."""
        deadline = time.monotonic() + _START_SECONDS
        with selectors.DefaultSelector() as selector:
            selector.register(self._in, selectors.EVENT_WRITE)
            selector.register(self._answers, selectors.EVENT_READ)
            selector.register(self._output, selectors.EVENT_READ)
            while not self._timed_out:
                ready = selector.select(max(0.0, deadline - time.monotonic()))
                self._timed_out = not ready or time.monotonic() > deadline
                for key, _ in ready:
                    if key.fileobj is self._in:
                        going_on = self._send()
                    elif key.fileobj is self._output:
                        going_on = self._hear()
                    else:
                        part = os.read(key.fd, 2**16)
                        if not part:
                            return
                        if not self._said:
                            deadline = time.monotonic() + timeout + _GRACE_SECONDS
                        self._said += part
                        going_on = True
                    if not going_on:
                        selector.unregister(key.fileobj)

    def rest_of_output(self) -> bytes:
        """Return the beginning of all output of a process that has ended."""
        os.set_blocking(self._output.fileno(), False)
        with suppress(BlockingIOError):
            while self._hear():
                pass
        return bytes(self._printed)

    def _send(self) -> bool:
        try:
            sent = os.write(self._in.fileno(), self._job[: select.PIPE_BUF])
        except BrokenPipeError:  # it didn't start, as the missing first line will tell
            return False
        self._job = self._job[sent:]
        if not self._job:
            self._in.close()
        return bool(self._job)

    def _hear(self) -> bool:
        """Read some output; tell whether to go on, which an absurd amount of it ends."""
        part = os.read(self._output.fileno(), 2**16)
        self._printed += part[: max(0, self._keep - len(self._printed))]
        self._total += len(part)
        return bool(part) and self._total < _MOST_OUTPUT


def _end(process: subprocess.Popen[bytes]) -> None:
    """Wait for the process; it ends when all that it started has, and is made to if it doesn't."""
    for number in (0, signal.SIGTERM, signal.SIGKILL):
        process.send_signal(number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_SECONDS)
            return
