"""Putting this process into the sandbox."""

from __future__ import annotations

__all__ = ["enter"]

import os
import resource

from . import kernel
from .landlock import restrict
from .seccomp import filter_program

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from typing import Any

    from .job import Settings
else:
    import _signal as signal

_READ_ANYTHING = 1 << 2  # CAP_DAC_READ_SEARCH
_DEVICES = ("null", "zero", "full", "random", "urandom")
_SMALL = 64 * 2**20


def enter(settings: Settings) -> None:
    """Return inside the sandbox, in a process (another one, but for bwrap) that may fork.

    The process that called this stays outside, waits for the end of the one inside and of all
    that it started, and ends. Raises OSError where the machine doesn't allow the kind.
    """
    _set_out_of_memory_victim()
    kind, root = settings["kind"], os.geteuid() == 0
    owner = settings["owner"] if root else os.getuid()
    if kind == "namespaces":
        _own_namespaces()
        _fork_and_wait(signal.SIGKILL)
        _own_root(settings["visible"], owner)
    elif kind == "rlimits":
        kernel.set_subreaper()
        if root:
            os.chown(settings["private"], owner, owner)
        _fork_and_wait(signal.SIGTERM)
        os.chdir(settings["private"])
    _set_limits(settings, owner)
    if kind == "rlimits":
        _restrict_files(settings)
    _give_up_rights(owner if root else None, keep_reading=kind == "rlimits")
    kernel.set_dumpable(False)  # what it starts runs as the same user
    code = filter_program(os.uname().machine, namespaces=kind != "rlimits")
    if code is not None:
        kernel.apply_filter(code)


def _set_out_of_memory_victim() -> None:
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")


def _own_namespaces() -> None:
    user, group = os.geteuid(), os.getegid()
    flags = (
        kernel.NEWNS | kernel.NEWPID | kernel.NEWNET | kernel.NEWIPC | kernel.NEWUTS
        | kernel.NEWCGROUP
    )  # fmt: skip
    if user == 0:
        kernel.unshare(flags)
        return
    kernel.unshare(flags | kernel.NEWUSER)
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def _fork_and_wait(at_parents_end: int) -> None:
    """Go on in a child; the parent waits for all that comes of it."""
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        return
    kernel.set_parent_death_signal(at_parents_end)
    os.close(0)

    def end(*_: Any) -> None:
        os.kill(child, signal.SIGKILL)

    signal.signal(signal.SIGTERM, end)
    # while it is unreaped its number stays its own
    ended = os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    try:
        os.killpg(child, signal.SIGKILL)
        while True:
            os.waitpid(-1, 0)
    except OSError:
        os._exit(ended.si_status if ended else 0)


def _own_root(visible: list[str], owner: int) -> None:
    kernel.set_parent_death_signal(signal.SIGKILL)
    kernel.make_private()
    kernel.mount("tmpfs", "/tmp", "tmpfs", kernel.NOSUID | kernel.NODEV, "mode=755")
    os.chdir("/tmp")
    for name in ("old", "proc", "dev", "tmp"):
        os.mkdir(name)
    kernel.pivot_root(".", "old")
    os.chdir("/")
    for target in ("/tmp", "/dev/shm"):
        os.makedirs(target, exist_ok=True)
        options = f"mode=1777,size={_SMALL}"
        kernel.mount("tmpfs", target, "tmpfs", kernel.NOSUID | kernel.NODEV, options)
    for path in visible:
        _show(path)
    for name in _DEVICES:
        open(f"/dev/{name}", "w").close()
        kernel.mount(f"/old/dev/{name}", f"/dev/{name}", "none", kernel.BIND)
    try:  # noqa: SIM105 (contextlib takes long to import)
        kernel.mount("proc", "/proc", "proc", kernel.NOSUID | kernel.NODEV | kernel.NOEXEC)
    except OSError:
        pass  # a container that masks parts of its own may not have another one
    kernel.unmount("/old")
    os.rmdir("/old")
    kernel.mount("none", "/", "none", kernel.REMOUNT | kernel.RDONLY | kernel.NOSUID | kernel.NODEV)
    os.chdir("/tmp")


def _show(path: str) -> None:
    source = f"/old{path}"
    if os.path.islink(source):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.symlink(os.readlink(source), path)
        return
    if os.path.isdir(source):
        os.makedirs(path, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        open(path, "w").close()
    kernel.bind(source, path)


def _restrict_files(settings: Settings) -> None:
    kernel.no_new_privileges()  # or the kernel refuses
    devices = [f"/dev/{name}" for name in _DEVICES]
    restrict(settings["visible"], [settings["private"], *devices, "/dev/shm"])


def _set_limits(settings: Settings, owner: int) -> None:
    seconds = int(settings["seconds"]) + 2
    processes = settings["processes"]
    if settings["kind"] == "rlimits" and os.geteuid() != 0:
        processes += _tasks_of(owner)
    for name, value in (
        (resource.RLIMIT_AS, settings["memory"]),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, settings["file_size"]),
        (resource.RLIMIT_NPROC, processes),
        (resource.RLIMIT_NOFILE, 256),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_STACK, 8 * 2**20),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
    ):
        hard = resource.getrlimit(name)[1]
        if hard != resource.RLIM_INFINITY:
            value = min(value, hard)
        resource.setrlimit(name, (value, value))


def _tasks_of(user: int) -> int:
    """Return how many threads a user has: the limit on processes counts these, wherever started."""
    count = 0
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid == user:
                count += len(os.listdir(f"/proc/{name}/task"))
        except OSError:
            pass  # it has ended
    return count


def _give_up_rights(owner: int | None, *, keep_reading: bool) -> None:
    """Become ``owner``, who has no right that root has; ``None``: stay, without capabilities.

    Without mounts, root's interpreter may lie where nobody else can read (``/root``).
    """
    if owner is not None:
        if keep_reading:
            kernel.keep_capabilities()
        os.setgroups([])
        os.setresgid(owner, owner, owner)
        os.setresuid(owner, owner, owner)
    try:
        kernel.drop_capabilities(_READ_ANYTHING if owner is not None and keep_reading else 0)
    except OSError:  # root of a container may not have it
        kernel.drop_capabilities()
    kernel.no_new_privileges()
