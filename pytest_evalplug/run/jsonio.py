"""JSON that survives any reply, and files that are either old or new, never half."""

from __future__ import annotations

__all__ = ["digest", "dumps", "json_object", "storing", "write_atomic"]

import dataclasses
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from pytest_evalplug.errors import StorageError

# What JSON may hold raw but files can't or other line readers trip over: the C1 controls
# (U+0085 ends a line for many), U+2028/2029, and lone surrogates, which UTF-8 can't encode.
_ESCAPED = re.compile("[\x80-\x9f\u2028\u2029\ud800-\udfff]")
TEMPORARY = ".tmp-"
"""What the names of files begin with that are not whole yet."""
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def dumps(obj: Any) -> str:
    """Return ``obj`` as one line of JSON that can be encoded as UTF-8.

    Objects that JSON does not know become what they hold (dataclasses, arrays, sets) or their
    text, without memory addresses. NaN and infinities are written as Python does, so that they
    come back as they were.
    """
    text = _ENCODER.encode(obj)
    if text.isascii():
        return text
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def digest(obj: Any, length: int = 12) -> str:
    """Return the first ``length`` hex digits of a hash of ``obj``'s content.

    Equal for equal content in any process and in any order of keys.
    """
    return hashlib.sha256(_SORTED.encode(obj).encode()).hexdigest()[:length]


def json_object(
    items: Iterable[tuple[str, str]], offsets: dict[str, int] | None = None
) -> Iterator[str]:
    """Yield the text of a JSON object, one line for each key and JSON text in ``items``.

    ``offsets`` gets the byte, in UTF-8, at which each key's line begins.
    """
    yield "{"
    end, separator = 1, "\n"
    for key, text in items:
        line = f"{dumps(key)}: {text}"
        if offsets is not None:
            offsets[key] = end + len(separator)
            end = offsets[key] + (len(line) if line.isascii() else len(line.encode()))
        yield separator + line
        separator = ",\n"
    yield "\n}\n"


@contextmanager
def storing(path: Path) -> Iterator[None]:
    """Raise StorageError that names ``path`` for what the operating system refuses to write."""
    try:
        yield
    except OSError as error:
        raise StorageError(
            f"can't be written: {error.strerror or error}",
            where=str(path),
            fix="Make room there, or make it writable",
        ) from error


def write_atomic(path: Path, text: str | Iterable[str]) -> None:
    """Replace ``path`` by ``text`` at once; it is on the disk when this returns.

    Missing folders are made. A failure leaves the old file as it was. Raises StorageError.
    """
    with storing(path):
        _write_atomic(path, text)


def _write_atomic(path: Path, text: str | Iterable[str]) -> None:
    new = [folder for folder in path.parents if not folder.exists()]
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=TEMPORARY)
    try:
        with open(handle, "w", encoding="utf-8", newline="\n") as file:
            file.writelines([text] if isinstance(text, str) else text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o666 & ~_umask())  # mkstemp's 0600 would hide the file from a team
        os.replace(name, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise
    for folder in (path.parent, *(made.parent for made in new)):
        _sync_folder(folder)


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # folders can't be opened there
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _plain(obj: Any) -> Any:
    """Return what JSON does not know as what it holds, else as its text."""
    if dataclasses.is_dataclass(obj) and not isinstance(obj, type):
        return {f.name: getattr(obj, f.name) for f in dataclasses.fields(obj)}
    if isinstance(obj, partial):
        return [obj.func, obj.args, obj.keywords]
    if isinstance(obj, (set, frozenset)):
        return sorted(obj, key=repr)
    if isinstance(obj, Mapping):
        return dict(obj)
    if callable(getattr(obj, "tolist", None)):  # numpy and torch, without importing them
        return obj.tolist()
    if hasattr(obj, "__qualname__"):
        return f"{obj.__module__}.{obj.__qualname__}"
    return _ADDRESS.sub("", str(obj))


_ENCODER = json.JSONEncoder(ensure_ascii=False, default=_plain)
_SORTED = json.JSONEncoder(sort_keys=True, default=_plain)
