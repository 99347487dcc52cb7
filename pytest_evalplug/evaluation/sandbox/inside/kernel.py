"""The Linux calls that Python 3.10 has no names for."""

from __future__ import annotations

__all__ = [
    "apply_filter",
    "bind",
    "drop_capabilities",
    "keep_capabilities",
    "make_private",
    "mount",
    "no_new_privileges",
    "pivot_root",
    "set_dumpable",
    "set_parent_death_signal",
    "set_subreaper",
    "syscall",
    "unmount",
    "unshare",
]

import ctypes
import os
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NEWNS, NEWIPC, NEWUTS, NEWUSER = 0x20000, 0x8000000, 0x4000000, 0x10000000
NEWPID, NEWNET, NEWCGROUP = 0x20000000, 0x40000000, 0x2000000
NOSUID, NODEV, NOEXEC, RDONLY, REMOUNT, BIND, RECURSIVE, PRIVATE = (
    2, 4, 8, 1, 32, 4096, 16384, 1 << 18
)  # fmt: skip

_libc = ctypes.CDLL(None, use_errno=True)
_AT_FDCWD, _AT_RECURSIVE, _MOUNT_SETATTR = -100, 0x8000, 442


def _check(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def syscall(number: int, *args: Any) -> int:
    """Make a system call; raises OSError."""
    converted = [ctypes.c_long(a) if isinstance(a, int) else a for a in args]
    return _check(_libc.syscall(ctypes.c_long(number), *converted))


def _prctl(*args: int) -> None:
    _check(_libc.prctl(*(ctypes.c_ulong(a) for a in (*args, *[0] * (5 - len(args))))))


def set_parent_death_signal(number: int) -> None:
    """Have the kernel send this signal when the parent ends."""
    _prctl(1, number)


def set_dumpable(value: bool) -> None:
    """Allow or forbid others of the same user to look into this process's memory and files."""
    _prctl(4, value)


def set_subreaper() -> None:
    """Become the parent of all descendants whose own parent ends."""
    _prctl(36, 1)


def no_new_privileges() -> None:
    """Forbid that set-user-id programs give this process or its children any rights."""
    _prctl(38, 1)


def drop_capabilities(keep: int = 0) -> None:
    """Keep only the capabilities whose bits are set in ``keep``."""
    header = ctypes.create_string_buffer(struct.pack("<Ii", 0x20080522, 0))
    low, high = keep & 0xFFFFFFFF, keep >> 32
    data = ctypes.create_string_buffer(struct.pack("<6I", low, low, 0, high, high, 0))
    _check(_libc.capset(header, data))


def keep_capabilities() -> None:
    """Keep the permitted capabilities when the user id changes."""
    _prctl(8, 1)


def unshare(flags: int) -> None:
    """Move this process into namespaces of its own."""
    _check(_libc.unshare(flags))


def mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    """Mount a file system."""
    names = [text.encode() for text in (source, target, kind)]
    _check(_libc.mount(*names, ctypes.c_ulong(flags), options.encode()))


def make_private() -> None:
    """Keep this namespace's mounts to itself."""
    mount("none", "/", "none", RECURSIVE | PRIVATE)


def bind(source: str, target: str, *, writable: bool = False) -> None:
    """Show ``source``, with all that is mounted below it, at ``target``."""
    mount(source, target, "none", BIND | RECURSIVE)
    if not writable:
        attributes = ctypes.create_string_buffer(
            struct.pack("<4Q", RDONLY | NOSUID | NODEV, 0, 0, 0)
        )
        path = ctypes.c_char_p(target.encode())
        syscall(_MOUNT_SETATTR, _AT_FDCWD, path, _AT_RECURSIVE, attributes, 32)


def pivot_root(new: str, old: str) -> None:
    """Make ``new`` the root and put the old one at ``old``."""
    number = 155 if os.uname().machine == "x86_64" else 41
    syscall(number, ctypes.c_char_p(new.encode()), ctypes.c_char_p(old.encode()))


def unmount(target: str) -> None:
    """Take a mount away, even one in use."""
    _check(_libc.umount2(target.encode(), 2))


def apply_filter(program: bytes) -> None:
    """Filter this process's system calls, and its children's, through a BPF program."""
    code = ctypes.create_string_buffer(program, len(program))

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_void_p))

    entry = Program(len(program) // 8, ctypes.addressof(code))
    _check(
        _libc.prctl(
            22, ctypes.c_ulong(2), ctypes.byref(entry), ctypes.c_ulong(0), ctypes.c_ulong(0)
        )
    )
