"""What came of checking labelled cases."""

from __future__ import annotations

__all__ = ["Finding", "Outcome", "Report"]

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_evalplug.run.jsonio import digest


@dataclass(frozen=True, slots=True)
class Finding:
    """What one case was asked, what its label says and what came out, fit to be shown."""

    input: str
    expected: Any
    got: Any
    right: bool

    @classmethod
    def compare(cls, input: str, expected: Any, got: Any) -> Finding:
        """Return the finding that is right where both are the same as JSON (``1`` is not true)."""
        return cls(input, expected, got, digest(got) == digest(expected))


@dataclass(frozen=True, slots=True)
class Outcome:
    """One case: its row's ``id``, ``kind`` and ``why``, and what was found."""

    id: str
    kind: str
    why: str
    finding: Finding


@dataclass(frozen=True, slots=True)
class Report:
    """All cases of one file, in its order."""

    path: Path
    outcomes: Sequence[Outcome]

    @property
    def total(self) -> int:
        """How many cases there are."""
        return len(self.outcomes)

    @property
    def right(self) -> int:
        """How many of them came out as labelled."""
        return self.total - len(self.misses)

    @property
    def misses(self) -> list[Outcome]:
        """The cases that did not."""
        return [outcome for outcome in self.outcomes if not outcome.finding.right]

    def by_kind(self) -> dict[str, tuple[int, int]]:
        """Return ``(right, total)`` for each kind of case."""
        counts: dict[str, tuple[int, int]] = {}
        for outcome in self.outcomes:
            right, total = counts.get(outcome.kind, (0, 0))
            counts[outcome.kind] = right + outcome.finding.right, total + 1
        return counts
