"""What the machine has: processors, GPUs, memory, the disk that runs are kept on."""

from __future__ import annotations

__all__ = ["cores", "free_memory", "gpus", "memory", "work_dir"]

import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pytest_evalplug.doctor.check import Check, ok, problem, warn
from pytest_evalplug.doctor.versions import torch_without_gpu

GIB = 2**30
_CGROUP = Path("/sys/fs/cgroup")
_LITTLE_DISK = 1.0
_NO_DISK = 0.1


def cores() -> Iterator[Check]:
    """Say how many processors this process may use, by affinity and by the container's quota."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    quota, _, period = _read(_CGROUP / "cpu.max").partition(" ")
    text = f"{usable} of {os.cpu_count()} processors"
    if quota.isdigit() and period.strip().isdigit():
        share = int(quota) / int(period)
        text += f", of whose time this container has {share:g}"
        if share < (usable or 1):
            yield warn("cpu", text, f"Use -n {max(1, int(share))} in the place of -n auto")
            return
    yield ok("cpu", text)


def gpus() -> Iterator[Check]:
    """Say which GPUs there are; a driver is asked, torch is not imported."""
    program = shutil.which("nvidia-smi")
    if program is None:
        apple = platform.system() == "Darwin" and platform.machine() == "arm64"
        yield ok("gpu", "Apple's, through MPS" if apple else "none: hf models run on the CPU")
        return
    query = "--query-gpu=index,name,memory.total,memory.free"
    done = subprocess.run(
        [program, query, "--format=csv,noheader,nounits"],
        capture_output=True,
        text=True,
        timeout=8,
        check=False,
    )
    if done.returncode:
        said = (done.stdout + done.stderr).strip().splitlines()
        yield problem(
            "gpu", f"nvidia-smi fails: {said[0] if said else done.returncode}", "Mend the driver"
        )
        return
    for line in done.stdout.splitlines():
        index, name, total, free = [part.strip() for part in line.split(",")]
        yield ok(f"gpu {index}", f"{name}, {_gib(free)} of {_gib(total)} GiB free")
    hidden = os.environ.get("CUDA_VISIBLE_DEVICES")
    if hidden is not None:
        yield ok("gpu", f"CUDA_VISIBLE_DEVICES={hidden} says which of them count")
    if (check := torch_without_gpu()) is not None:
        yield check


def _gib(mebibytes: str) -> str:
    return f"{int(mebibytes) / 1024:.0f}" if mebibytes.isdigit() else "?"


def memory() -> Iterator[Check]:
    """Say how much memory is free, in the container where there is one."""
    free = free_memory()
    if free is None:
        yield ok("memory", "unknown here")
    elif free < 2 * GIB:
        yield warn("memory", f"{free / GIB:.1f} GiB free", "Close programs, or use smaller models")
    else:
        yield ok("memory", f"{free / GIB:.1f} GiB free")


def free_memory() -> int | None:
    """Return the bytes that can still be used, or None where the system does not say."""
    fields = dict(
        line.partition(":")[::2]
        for line in _read(Path("/proc/meminfo")).splitlines()
        if ":" in line
    )
    free = [int(fields["MemAvailable"].split()[0]) * 1024] if "MemAvailable" in fields else []
    limit, used = _read(_CGROUP / "memory.max"), _read(_CGROUP / "memory.current")
    if limit.isdigit() and used.isdigit():
        free.append(int(limit) - int(used))
    return max(0, min(free)) if free else None


def work_dir(folder: Path) -> Iterator[Check]:
    """Try out the folder of the runs: writing, the lock between processes, space."""
    place = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    shown = f"{folder}" if place == folder else f"{folder} (will be made in {place})"
    if not place.is_dir():
        yield problem("work dir", f"{place} is no folder", "Give another one with --work-dir")
        return
    try:
        with tempfile.NamedTemporaryFile(dir=place, prefix=".evalplug-doctor-") as file:
            file.write(b"?")
            file.flush()
            os.fsync(file.fileno())
            _lock(file.fileno())
    except OSError as error:
        text = f"{shown} can't be written, or its files not locked: {error.strerror}"
        yield problem("work dir", text, "Give a folder of your own with --work-dir")
        return
    free = shutil.disk_usage(place).free / GIB
    text = f"{shown}: writable, {free:.1f} GiB free"
    if free < _NO_DISK:
        yield problem("work dir", text, "Make room, or give a folder elsewhere with --work-dir")
    elif free < _LITTLE_DISK:
        yield warn("work dir", text, "A run of 10,000 samples takes some 100 MiB")
    else:
        yield ok("work dir", text)


def _lock(descriptor: int) -> None:
    try:
        import fcntl
    except ImportError:  # Windows
        return
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""
