"""Where the sandbox's interpreter starts."""

from __future__ import annotations

__all__ = ["main"]

import marshal
import os
import sys

from . import checker, program
from .isolation import enter
from .peer import Peer

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from typing import Any

    from .job import Settings
else:
    import _signal as signal


def main() -> None:
    """Run one execution as standard input says; write the verdict to standard output.

    Input: two marshalled values, Settings and a checker.Test, each after its length. Output:
    ``ready``, then status, line and reason on a line each. It ends by itself at the time limit,
    which, inside a pid namespace, ends all else.
    """
    settings: Settings = _read()
    verdict = os.dup(1)
    os.dup2(2, 1)  # what the test prints may come from the program, and is no verdict
    enter(settings)
    os.environ.clear()
    os.environ.update({"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"})
    sys.path[:] = settings["search"]
    signal.signal(signal.SIGALRM, lambda *_: _finish(verdict, "timeout", 0, ""))
    peer = _start_program()
    os.write(verdict, b"ready\n")
    signal.setitimer(signal.ITIMER_REAL, settings["seconds"])
    # only now is there anything of the test in any memory: the program's process has no copy
    _finish(verdict, *checker.check(peer, settings["program"], _read()))


def _start_program() -> Peer:
    to_program, from_checker = os.pipe()
    to_checker, from_program = os.pipe()
    if os.fork() == 0:
        _close_all_but(2, to_program, from_program)
        try:
            program.run(to_program, from_program)
        finally:  # also where the program unwinds this stack: it must not come back from here
            os._exit(0)
    os.close(to_program)
    os.close(from_program)
    return Peer(to_checker, from_checker, checker.allow)


def _close_all_but(*kept: int) -> None:
    low = -1
    for number in (*sorted(kept), 256):
        os.closerange(low + 1, number)
        low = number


def _read() -> Any:
    size = int.from_bytes(_read_bytes(8), "little")
    return marshal.loads(_read_bytes(size))


def _read_bytes(size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = os.read(0, size - len(data))
        if not part:
            os._exit(1)
        data += part
    return data


def _finish(verdict: int, status: str, line: int, reason: str) -> None:
    try:  # noqa: SIM105 - contextlib costs each execution its import
        sys.stdout.flush()
    except Exception:  # the test has closed or replaced it
        pass
    text = f"{status}\n{line}\n{' '.join(reason.split())}\n"
    os.write(verdict, text.encode("utf-8", "backslashreplace"))
    os._exit(0)
