"""Which system calls a program may not make.

A filter (seccomp, BPF) that refuses with EPERM what no solution of a programming task needs and
what leads out of the sandbox: sockets, other processes' memory, mounts, namespaces, kernel
keyrings, io_uring (which opens files and sockets past filters). Where no pid namespace keeps
processes apart, signals and what else reaches other processes is refused too, and leaving the
process group, so that one killpg ends all.
"""

from __future__ import annotations

__all__ = ["filter_program"]

import struct

_MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
_ALWAYS = {  # name: (x86_64, aarch64)
    "socket": (41, 198),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "mount_setattr": (442, 442),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "open_by_handle_at": (304, 265),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "kexec_load": (246, 104),
    "syslog": (103, 116),
    "reboot": (169, 142),
}
_WITHOUT_NAMESPACES = {
    "kill": (62, 129),
    "tkill": (200, 130),
    "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "pidfd_send_signal": (424, 424),
    "setsid": (112, 157),
    "setpgid": (109, 154),
    "setpriority": (141, 140),
    "sched_setaffinity": (203, 122),
    "sched_setscheduler": (144, 119),
    "ioprio_set": (251, 30),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    "shmget": (29, 194),  # System V objects and message queues outlive their processes
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
}
_CLONE, _CLONE3, _FCNTL, _PRLIMIT = (56, 220), (435, 435), (72, 25), (302, 261)
_NEW_NAMESPACES = 0x7E020000
_OWNER_COMMANDS = (8, 10, 15)  # F_SETOWN, F_SETSIG, F_SETOWN_EX: signals to any process
_EPERM, _ENOSYS, _ALLOW, _KILL = 0x50001, 0x50026, 0x7FFF0000, 0x80000000
_LOAD, _EQUAL, _ANY_BIT, _AT_LEAST, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
_NUMBER, _MACHINE, _ARGUMENT = 0, 4, 16


def filter_program(machine: str, *, namespaces: bool) -> bytes | None:
    """Return the BPF program for a machine (``os.uname().machine``), ``None`` for unknown ones."""
    if machine not in _MACHINES:
        return None
    audit, column = _MACHINES[machine]
    refused = {**_ALWAYS, **({} if namespaces else _WITHOUT_NAMESPACES)}
    code = [
        _step(_LOAD, _MACHINE),
        _step(_EQUAL, audit, 1, 0),
        _step(_RETURN, _KILL),
        _step(_LOAD, _NUMBER),
    ]
    if machine == "x86_64":  # x32 has the same calls under other numbers
        code += [_step(_AT_LEAST, 0x40000000, 0, 1), _step(_RETURN, _EPERM)]
    for numbers in refused.values():
        code += _refuse(numbers[column])
    # its flags lie in memory that a filter can't read; libraries fall back on clone
    code += _refuse(_CLONE3[column], _ENOSYS)
    code += _when(_CLONE[column], 0, [_step(_ANY_BIT, _NEW_NAMESPACES, 0, 1)])
    if not namespaces:
        for command in _OWNER_COMMANDS:
            code += _when(_FCNTL[column], 1, [_step(_EQUAL, command, 0, 1)])
        code += _when(_PRLIMIT[column], 0, [_step(_EQUAL, 0, 1, 0)])
    return b"".join([*code, _step(_RETURN, _ALLOW)])


def _step(operation: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("<HBBI", operation, if_true, if_false, value)


def _refuse(number: int, result: int = _EPERM) -> list[bytes]:
    return [_step(_EQUAL, number, 0, 1), _step(_RETURN, result)]


def _when(number: int, argument: int, test: list[bytes]) -> list[bytes]:
    """Refuse call ``number`` if the test of an argument's low half doesn't skip one step."""
    body = [_step(_LOAD, _ARGUMENT + 8 * argument), *test, _step(_RETURN, _EPERM)]
    return [_step(_EQUAL, number, 0, len(body) + 1), *body, _step(_LOAD, _NUMBER)]
