"""A view of the file system for a process without mounts of its own (Landlock, Linux 5.13)."""

from __future__ import annotations

__all__ = ["restrict"]

import ctypes
import os
import struct

from .kernel import syscall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_EXECUTE, _WRITE, _READ, _READ_DIR, _TRUNCATE, _IOCTL = 1, 2, 4, 8, 1 << 14, 1 << 15
_FILE = _EXECUTE | _WRITE | _READ | _TRUNCATE | _IOCTL
_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}  # how many rights each version knows; 16 from the fifth on


def restrict(readable: Iterable[str], writable: Iterable[str]) -> bool:
    """Confine this process to these paths, and keep it from TCP and others' processes.

    Returns whether the kernel can do that. Paths that don't exist are left out.
    """
    try:
        version = syscall(_CREATE, None, 0, 1)
    except OSError:
        return False
    handled = (1 << _RIGHTS.get(version, 16)) - 1
    fields = (handled, 3 if version >= 4 else 0, 3 if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    rules = syscall(_CREATE, ctypes.create_string_buffer(struct.pack("<3Q", *fields)), size, 0)
    for paths, rights in ((readable, _EXECUTE | _READ | _READ_DIR), (writable, handled)):
        for path in paths:
            if os.path.exists(path):
                allowed = rights if os.path.isdir(path) else rights & _FILE
                _add(rules, path, allowed & handled)
    syscall(_RESTRICT, rules, 0)
    os.close(rules)
    return True


def _add(rules: int, path: str, rights: int) -> None:
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    rule = ctypes.create_string_buffer(struct.pack("<Qi", rights, place))
    syscall(_ADD, rules, 1, rule, 0)
    os.close(place)
