"""Which sandbox this machine offers, and how it is started."""

from __future__ import annotations

__all__ = ["KINDS", "NOTES", "command", "visible_paths"]

import os
import shutil
import sys
import sysconfig
from functools import cache
from pathlib import Path

KINDS = ("bwrap", "namespaces", "rlimits")
"""From the strongest to the weakest."""

NOTES = {
    "bwrap": "",
    "namespaces": "",
    "rlimits": (
        "weak isolation: no namespaces here, only limits, a system call filter and, where the "
        "kernel has it, Landlock; install bubblewrap or allow user namespaces"
    ),
}
"""What a report says of each."""

ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONHASHSEED": "0"}
"""All that a sandbox gets; the seed makes sets come in the same order in every run."""

_HOME = str(Path(__file__).parent)
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_FILES = ("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/localtime", "/etc/alternatives")
_START = "import sys; sys.path[0] = {!r}; from inside.main import main; main()"


def site_packages() -> list[str]:
    """Return the folders of installed packages, which programs may import."""
    paths = sysconfig.get_paths()
    return list(dict.fromkeys((paths["purelib"], paths["platlib"])))


@cache
def search_path() -> list[str]:
    """Return the program's ``sys.path``: the standard library and installed packages."""
    paths = sysconfig.get_paths()
    compiled = [folder for folder in sys.path if folder.endswith("lib-dynload")]
    folders = (paths["stdlib"], paths["platstdlib"], *compiled, *site_packages())
    return [folder for folder in dict.fromkeys(folders) if os.path.isdir(folder)]


@cache
def visible_paths() -> list[str]:
    """Return all that a sandbox shows of the file system, read-only."""
    shown = [*_SYSTEM, *_FILES]
    for path in (sys.base_prefix, *search_path(), _HOME):
        if not any(Path(path).is_relative_to(above) for above in shown):
            shown.append(path)
    return [path for path in shown if os.path.exists(path)]


def command(kind: str) -> list[str] | None:
    """Return what starts the sandbox's interpreter, ``None`` if a program it needs is missing."""
    python = [os.path.realpath(sys.executable), "-s", "-S", "-B", "-u", "-c", _START.format(_HOME)]
    if kind != "bwrap":
        return python
    bwrap = shutil.which("bwrap")
    return None if bwrap is None else [bwrap, *_bwrap_options(), *python]


def _bwrap_options() -> list[str]:
    user = [] if os.geteuid() == 0 else ["--unshare-user"]
    # root becomes a user of its own inside, for which it needs these
    rights = ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"] if not user else []
    options = [
        *user, *rights,
        "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
        "--as-pid-1", "--die-with-parent", "--new-session",
        "--proc", "/proc", "--dev", "/dev",
        "--perms", "1777", "--size", str(64 * 2**20), "--tmpfs", "/tmp",
    ]  # fmt: skip
    shown = visible_paths()
    above = {str(folder): None for path in shown for folder in reversed(Path(path).parents)}
    for folder in above:
        if folder not in ("/", "/tmp", *shown):
            options += ["--dir", folder]  # made on the way, it would be open to root only
    for path in shown:
        if os.path.islink(path):
            options += ["--symlink", os.readlink(path), path]
        else:
            options += ["--ro-bind", path, path]
    return [*options, "--remount-ro", "/", "--chdir", "/tmp", "--"]
