"""What crosses between worker and controller: plain dicts, lists, texts and numbers."""

from __future__ import annotations

__all__ = ["Manifest", "Part"]

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pytest_evalplug.run.jsonio import dumps, write_atomic


@dataclass(slots=True)
class Part:
    """What was selected of one model's subset."""

    benchmark: str
    subset: str
    dataset: str
    model: str | None
    version: str
    subsets: list[str]
    """All subsets that the benchmark has, also those not selected."""
    indices: list[str] = field(default_factory=list)
    sample_ids: list[str] = field(default_factory=list)
    """Those of ``indices``, in their order."""
    available: int = 0
    """How many cases the subset has without any selection."""
    problem: str | None = None
    """Why the subset has no samples."""
    skipped: bool = False
    """The problem is that the benchmark can't be run this way."""


@dataclass(slots=True)
class Manifest:
    """What a process will run, and where the benchmarks' modules are."""

    parts: list[Part] = field(default_factory=list)
    modules: dict[str, list[str]] = field(default_factory=dict)
    """Benchmark -> module name, file, folder for sys.path, class."""

    def to_wire(self) -> dict[str, Any]:
        """Return plain types only."""
        return asdict(self)

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> Manifest:
        """Rebuild a manifest from :meth:`to_wire`."""
        return cls([Part(**part) for part in wire["parts"]], dict(wire["modules"]))

    def write(self, path: Path) -> None:
        """Write the manifest; every process of a run writes the same."""
        write_atomic(path, dumps(self.to_wire()))

    @classmethod
    def read(cls, path: Path) -> Manifest:
        """Read what :meth:`write` wrote; an empty manifest if nobody did."""
        try:
            return cls.from_wire(json.loads(path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return cls()
