"""Faults that a run's own process injects into itself before pytest starts."""

from __future__ import annotations

import ctypes
import os
import resource
import shutil
import signal
import threading
from collections.abc import Callable
from typing import Any

_PATH_CALLS = ("open", "mkdir", "rmdir", "rename", "replace", "unlink", "chmod")


def inject(
    *,
    kill_at: int = 0,
    copy_to: str = "",
    file_limit: int = 0,
    mortal: bool = False,
    jumps: list[float] | None = None,
) -> None:
    """Prepare what goes wrong.

    - ``kill_at``: a SIGKILL before the k-th step that changes the work dir.
    - ``copy_to``: before each step the work dir is copied into a folder of its own there.
    - ``file_limit``: no file may grow beyond so many bytes.
    - ``mortal``: root, too, may write only where the permissions say so.
    - ``jumps``: by how many seconds the clock is off at each look at it, the last one for ever.
    """
    if kill_at or copy_to:
        _step_by_step(kill_at, copy_to)
    if file_limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_limit, resource.RLIM_INFINITY))
    if mortal and not os.geteuid():
        _drop_capabilities()
    if jumps:
        _jump(jumps)


def _drop_capabilities() -> None:
    """Give up CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH and CAP_FOWNER, for child processes as well."""
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in (1, 2, 3):
        libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    sets = (ctypes.c_uint32 * 6)()
    assert not libc.capget(header, sets), os.strerror(ctypes.get_errno())
    for place in range(3):
        sets[place] &= ~0b1110
    assert not libc.capset(header, sets), os.strerror(ctypes.get_errno())


def _step_by_step(kill_at: int, copy_to: str) -> None:
    steps = 0
    copying = False
    one_at_a_time = threading.Lock()

    def step() -> None:
        nonlocal steps, copying
        if copying:
            return
        steps += 1
        if steps == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        if copy_to and os.path.exists("outputs"):
            with one_at_a_time:
                copying = True
                copy = f"{copy_to}/{steps:04}"
                try:
                    shutil.copytree("outputs", copy)
                except shutil.Error:  # another thread took a file away meanwhile
                    shutil.rmtree(copy)
                copying = False

    def before(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            if name == "fsync" or "outputs" in str(args[0]):
                step()
            return real(*args, **kwargs)

        return call

    for name in (*_PATH_CALLS, "fsync"):
        setattr(os, name, before(name, getattr(os, name)))

    from pytest_evalplug.run.journal import JournalWriter

    write = JournalWriter._write

    def torn(self: JournalWriter, data: bytes) -> None:
        half = len(data) // 2
        for part in (data[:half], data[half:]):
            step()
            write(self, part)

    JournalWriter._write = torn  # type: ignore[method-assign]


def _jump(jumps: list[float]) -> None:
    import time
    from datetime import datetime, tzinfo

    import pytest_evalplug.run.directory
    import pytest_evalplug.run.records

    looks = 0
    real = time.time

    def jumping() -> float:
        nonlocal looks
        off = jumps[min(looks, len(jumps) - 1)]
        looks += 1
        return real() + off

    class Jumping(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Jumping:
            return cls.fromtimestamp(jumping(), tz)

    time.time = jumping
    pytest_evalplug.run.directory.datetime = Jumping  # type: ignore[attr-defined]
