"""The records of one split, and where each stands."""

from __future__ import annotations

__all__ = ["Origin", "Record", "Table"]

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

Record: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a split's records stand: a file, a folder or a hub id, and how many there are."""

    source: str
    size: int
    lines: Sequence[int] | None = None
    """The line that each record begins on, in text files."""

    def where(self, row: int) -> str:
        """Return ``file:line``, or the source and the row number (from 0)."""
        if self.lines is not None:
            return f"{self.source}:{self.lines[row]}"
        return f"{self.source}, row {row}"


@dataclass(frozen=True, slots=True)
class Table:
    """A split's records in their original order."""

    records: Sequence[Record]
    source: str
    lines: Sequence[int] | None = None

    @property
    def origin(self) -> Origin:
        """Where the records stand; stays when the records are let go."""
        return Origin(self.source, len(self.records), self.lines)
