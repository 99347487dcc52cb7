"""What crosses between worker and controller: plain dicts, lists, texts and numbers."""

from __future__ import annotations

__all__ = ["Manifest", "Part"]

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from pytest_evalplug.errors import ConfigError
from pytest_evalplug.run.jsonio import dumps, write_atomic
from pytest_evalplug.run.records import index_order


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

    @property
    def place(self) -> int:
        """The subset's position in its benchmark; -1 stands for the whole of it."""
        return self.subsets.index(self.subset) if self.subset in self.subsets else -1

    def joined(self, other: Part) -> Part:
        """Return what this and another shard select. Raises ConfigError if their data differ."""
        if not (self.indices and other.indices):
            return self if self.indices else other
        mine, theirs = ((p.version, p.subsets, p.available) for p in (self, other))
        if mine != theirs:
            raise ConfigError(
                "shards have different prompts or data: version, subsets and size are "
                f"{mine} and {theirs}",
                where=self.dataset,
                fix="Run all shards with the same benchmark and data",
            )
        ids = dict(zip(self.indices, self.sample_ids, strict=True))
        ids |= dict(zip(other.indices, other.sample_ids, strict=True))
        indices = sorted(ids, key=index_order)
        return replace(self, indices=indices, sample_ids=[ids[index] for index in indices])


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

    @classmethod
    def joined(cls, manifests: Sequence[Manifest]) -> Manifest:
        """Return what shards of one run select together, in the order of collection.

        Raises ConfigError if a subset's version or size is not the same in all of them.
        """
        parts: dict[tuple[str, str, str | None], Part] = {}
        modules: dict[str, list[str]] = {}
        for manifest in manifests:
            modules |= manifest.modules
            for part in manifest.parts:
                key = (part.benchmark, part.subset, part.model)
                parts[key] = parts[key].joined(part) if key in parts else part
        rank = {name: place for place, name in enumerate(modules)}
        ordered = sorted(parts.values(), key=lambda part: (rank[part.benchmark], part.place))
        return cls(ordered, modules)

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
