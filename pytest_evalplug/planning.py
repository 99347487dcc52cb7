"""What a process will run: its plan of cases, and the manifest that all processes agree on."""

from __future__ import annotations

__all__ = ["Role", "decides", "manifest_of", "plan_of", "skipped"]

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_evalplug.collection import Benchmark, Placeholder, case_of
from pytest_evalplug.errors import NotApplicable
from pytest_evalplug.inference.case import Case
from pytest_evalplug.run.records import index_order
from pytest_evalplug.scheduling import lane
from pytest_evalplug.wire import Manifest, Part


@dataclass(frozen=True, slots=True)
class Role:
    """Which process this is: the only one, or worker ``number`` of ``count``."""

    worker: str = "main"
    number: int = 0
    count: int = 1
    ahead: bool = True
    """Whether this process can know which items it will run."""


def plan_of(items: Sequence[pytest.Item], role: Role) -> list[Case]:
    """Return the cases that this process will run, in order; none where it can't know."""
    if not role.ahead:
        return []
    own = [items[position] for position in lane(len(items), role.count, role.number)]
    return [case for item in own if not skipped(item) and isinstance(case := case_of(item), Case)]


def skipped(item: pytest.Item) -> bool:
    """Tell whether an item is skipped whatever happens, so that nothing is asked for it."""
    return item.get_closest_marker("skip") is not None


def decides(item: pytest.Item) -> bool:
    """Tell whether an item's outcome is its sample's verdict, where no Evaluator gave one."""
    return getattr(item, "originalname", "") == "test_sample"


def manifest_of(benchmarks: dict[str, Benchmark], items: Sequence[pytest.Item]) -> Manifest:
    """Return what was selected of every benchmark; the same in all processes of a run."""
    parts: dict[tuple[str, str, str | None], Part] = {}
    modules = {name: _module(benchmark) for name, benchmark in benchmarks.items()}
    seen: set[Case | Placeholder] = set()
    for item in items:
        case = case_of(item)
        if case is None or case in seen:
            continue
        seen.add(case)
        name = case.adapter.meta.name if isinstance(case, Case) else case.benchmark
        key = (name, case.subset, case.model)
        if key not in parts:
            parts[key] = _part(benchmarks[name], case)
        if isinstance(case, Case):
            parts[key].indices.append(case.index)
            parts[key].sample_ids.append(case.item_id)
    rank = {name: position for position, name in enumerate(benchmarks)}
    for part in parts.values():
        order = sorted(range(len(part.indices)), key=lambda i: index_order(part.indices[i]))
        part.indices = [part.indices[i] for i in order]
        part.sample_ids = [part.sample_ids[i] for i in order]
    # in the order of collection, whatever a plugin made of it: then all sums and tables agree
    return Manifest(
        sorted(parts.values(), key=lambda part: (rank[part.benchmark], part.place)), modules
    )


def _part(benchmark: Benchmark, case: Case | Placeholder) -> Part:
    dataset = benchmark.dataset(case.subset) if case.subset else benchmark.name
    subsets = list(benchmark.adapter.subset_list)
    part = Part(benchmark.name, case.subset, dataset, case.model, "-", subsets)
    if isinstance(case, Placeholder):
        part.problem = str(case.error)
        part.skipped = isinstance(case.error, NotApplicable)
        return part
    part.version = benchmark.version(case.subset)
    part.available = benchmark.adapter.available(case.subset) * benchmark.adapter.repeats
    return part


def _module(benchmark: Benchmark) -> list[str]:
    module = benchmark.cls.__module__
    root = Path(benchmark.file).resolve().parents[module.count(".")]
    return [module, benchmark.file, str(root), benchmark.cls.__qualname__]
