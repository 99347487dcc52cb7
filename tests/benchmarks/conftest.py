"""The shipped benchmarks, as the plugin would make them."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

import pytest

from pytest_evalplug.dataset.adapter import AdapterOptions, DefaultDataAdapter
from pytest_evalplug.types import Detail, ModelOutput, Sample, TaskState
from tests.benchmarks.expected import EXPECTED
from tests.benchmarks.hub_rows import HUB_ROWS

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"

Make: TypeAlias = Callable[..., DefaultDataAdapter]


@pytest.fixture(scope="session")
def shipped() -> dict[str, type[DefaultDataAdapter]]:
    """All decorated classes of the shipped modules, by the benchmark's name."""
    classes: dict[str, type[DefaultDataAdapter]] = {}
    for path in sorted(FOLDER.glob("test_*.py")):
        spec = importlib.util.spec_from_file_location(f"shipped_{path.stem}", path)
        assert spec
        assert spec.loader
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        for value in vars(module).values():
            if isinstance(value, type) and "__evalplug_meta__" in vars(value):
                assert issubclass(value, DefaultDataAdapter)
                classes[value.__evalplug_meta__.name] = value
    return classes


@pytest.fixture(scope="session")
def make(shipped: dict[str, type[DefaultDataAdapter]], data_dir: Path) -> Make:
    """Return the adapter of a benchmark, reading from the data directory; made once each."""

    @cache
    def adapter(
        name: str, mode: Literal["gen", "ppl", "ll"] = "gen", **fields: Any
    ) -> DefaultDataAdapter:
        return _made(shipped[name], data_dir, mode, fields)

    return adapter


@pytest.fixture
def written(shipped: dict[str, type[DefaultDataAdapter]], tmp_path: Path) -> Make:
    """Write hand-made rows, place -> rows, and return the benchmark's adapter that reads them."""

    def adapter(name: str, places: dict[str, list[dict[str, Any]]]) -> DefaultDataAdapter:
        cls = shipped[name]
        for place, rows in places.items():
            folder = cls.__evalplug_meta__.data_name or name
            path = tmp_path / folder / f"{place}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        return cls(options=AdapterOptions(data_dirs=(tmp_path,)))

    return adapter


@pytest.fixture
def from_rows(shipped: dict[str, type[DefaultDataAdapter]], tmp_path: Path) -> Make:
    """Return the adapter of a benchmark that reads its hand-made rows, some fields changed."""

    def adapter(
        name: str, mode: Literal["gen", "ppl", "ll"] = "gen", **fields: Any
    ) -> DefaultDataAdapter:
        cls = shipped[name]
        subsets = cls.__evalplug_meta__.subset_list
        shared = len(subsets) == 1 or cls.__evalplug_meta__.reformat_subset
        folder = (
            tmp_path / (cls.__evalplug_meta__.data_name or name) / ("" if shared else subsets[0])
        )
        folder.mkdir(parents=True, exist_ok=True)
        for split, rows in HUB_ROWS[name].items():
            lines = "\n".join(map(json.dumps, rows))
            (folder / f"{split}.jsonl").write_text(f"{lines}\n", encoding="utf-8")
        return _made(cls, tmp_path, mode, fields)

    return adapter


def _made(
    cls: type[DefaultDataAdapter],
    data_dir: Path,
    mode: Literal["gen", "ppl", "ll"],
    fields: dict[str, Any],
) -> DefaultDataAdapter:
    return cls(
        benchmark_meta=cls.__evalplug_meta__.override(fields),
        options=AdapterOptions(data_dirs=(data_dir,), eval_mode=mode),
    )


@pytest.fixture(scope="session")
def at_hand(data_dir: Path) -> Callable[[DefaultDataAdapter], list[str]]:
    """Return the subsets whose data is there: all, but for a few benchmarks."""

    def subsets(adapter: DefaultDataAdapter) -> list[str]:
        if EXPECTED[adapter.name].at_hand is None:
            return adapter.subsets()
        return [s for s in adapter.subsets() if (data_dir / adapter.name / s).is_dir()]

    return subsets


@pytest.fixture(scope="session")
def judge() -> Callable[..., Detail]:
    """Return what a reply to a sample is worth, as a run would find."""

    def detail(
        adapter: DefaultDataAdapter, sample: Sample, subset: str, reply: str, **columns: Any
    ) -> Detail:
        state = TaskState(
            model="oracle",
            sample=sample,
            messages=[],
            output=ModelOutput(reply),
            sample_id=str(sample.id),
            group_id=sample.index,
        )
        record = {
            "index": sample.index,
            "sample_id": str(sample.id),
            "subset": subset,
            "prediction": reply,
            "gold": sample.target,
            **columns,
        }
        return adapter.scorer.detail(state, record)

    return detail
