"""Names of Samples that are safe in a test id, a file name, ``-k`` and XML."""

from __future__ import annotations

__all__ = ["base_index", "item_ids", "make_unique", "repeat_index", "safe_id"]

import hashlib
import re
from collections.abc import Iterable, Sequence

from pytest_evalplug.types import Sample

MAX_LENGTH = 80
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")


def item_ids(samples: Sequence[Sample], subset: str, subset_list: Sequence[str] = ()) -> list[str]:
    """Return ``<subset>-<id>`` for each Sample: ``[A-Za-z0-9_.-]``, at most 80 characters, unique.

    A name that is safe already stays as it is; any other is made readable and gets a hash of the
    whole. So does one that may as well belong to another subset of ``subset_list``, selected or
    not: ``a-b-1`` of subset ``a``, where there is a subset ``a-b``. The second Sample of one id
    gets its index behind.
    """
    others = tuple(f"{other}-" for other in subset_list if other.startswith(f"{subset}-"))
    names = (f"{subset}-{s.index if s.id is None else s.id}" for s in samples)
    ids = (
        _hashed(name, f"{subset}\n{name}") if name.startswith(others) else safe_id(name)
        for name in names
    )
    return make_unique(ids, [s.index for s in samples], MAX_LENGTH)


def make_unique(
    names: Iterable[str], indices: Sequence[str], max_length: int | None = None
) -> list[str]:
    """Return the names with ``-<index>`` (and a count, if need be) behind repeated ones."""
    names = list(names)
    if len(set(names)) == len(names):
        return names
    seen: set[str] = set()
    unique = []
    for name, index in zip(names, indices, strict=True):
        candidate, n = name, 1
        while candidate in seen:
            ending = f"-{index}" if n == 1 else f"-{index}-{n}"
            cut = None if max_length is None else max_length - len(ending)
            candidate, n = name[:cut] + ending, n + 1
        seen.add(candidate)
        unique.append(candidate)
    return unique


def repeat_index(index: str, repeat: int, row_count: int) -> str:
    """Return the index of a Sample's repeat: ``12.1`` is ``1012.1`` in repeat 1 of 1000 rows."""
    if repeat == 0:
        return index
    row, dot, part = index.partition(".")
    return f"{int(row) + repeat * row_count}{dot}{part}"


def base_index(index: str, row_count: int) -> str:
    """Return the index of a repeat's Sample: what :func:`repeat_index` made ``index`` from."""
    row, dot, part = index.partition(".")
    return f"{int(row) % row_count}{dot}{part}"


def safe_id(name: str) -> str:
    """Return ``name`` if it is safe and short enough, else a readable form with a hash."""
    if len(name) <= MAX_LENGTH and not _UNSAFE.search(name):
        return name
    return _hashed(name, name)


def _hashed(name: str, content: str) -> str:
    ending = "-" + hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return _UNSAFE.sub("_", name)[: MAX_LENGTH - len(ending)] + ending
