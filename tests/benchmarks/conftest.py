"""The shipped benchmarks, as the plugin would make them."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from pytest_evalplug.dataset.adapter import AdapterOptions, DefaultDataAdapter
from pytest_evalplug.types import Detail, ModelOutput, Sample, TaskState

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"

Make: TypeAlias = Callable[[str], DefaultDataAdapter]
Judge: TypeAlias = Callable[..., Detail]


@cache
def benchmark_classes() -> dict[str, type[DefaultDataAdapter]]:
    """All decorated classes of the shipped modules, by the benchmark's name."""
    classes = {}
    for path in sorted(FOLDER.glob("test_*.py")):
        spec = importlib.util.spec_from_file_location(f"shipped_{path.stem}", path)
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        for value in vars(module).values():
            if isinstance(value, type) and "__evalplug_meta__" in vars(value):
                assert issubclass(value, DefaultDataAdapter)
                classes[value.__evalplug_meta__.name] = value
    return classes


@pytest.fixture(scope="session")
def make(data_dir: Path) -> Make:
    """Return the adapter of a benchmark, reading from the data directory; made once each."""

    @cache
    def adapter(name: str) -> DefaultDataAdapter:
        return benchmark_classes()[name](options=AdapterOptions(data_dirs=(data_dir,)))

    return adapter


def local_subsets(adapter: DefaultDataAdapter, data_dir: Path) -> list[str]:
    """The subsets whose data is at hand: all, but for MMLU."""
    if adapter.name != "mmlu":
        return adapter.subsets()
    return [s for s in adapter.subsets() if (data_dir / "mmlu" / s).is_dir()]


def judge(
    adapter: DefaultDataAdapter, sample: Sample, subset: str, reply: str, **columns: Any
) -> Detail:
    """Score a reply as a run would; ``columns`` are further ones of its record."""
    record = {
        "index": sample.index,
        "sample_id": sample.id,
        "subset": subset,
        "prediction": reply,
        "gold": sample.target,
        **columns,
    }
    state = TaskState(
        model="oracle",
        sample=sample,
        messages=[],
        output=ModelOutput(reply),
        sample_id=str(sample.id),
        group_id=sample.index,
    )
    return adapter.scorer.detail(state, record)
