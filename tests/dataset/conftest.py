"""Small benchmarks on files that a test writes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import pytest

from pytest_evalplug.dataset.adapter import AdapterOptions, DefaultDataAdapter
from pytest_evalplug.dataset.meta import BenchmarkMeta
from pytest_evalplug.types import Sample

Rows = Sequence[Mapping[str, Any]]


class QA(DefaultDataAdapter):
    """A question, its answer, and perhaps an id."""

    def record_to_sample(self, record: dict[str, Any]) -> Sample | list[Sample]:
        return Sample(
            input=record["q"],
            target=record["a"],
            id=record.get("id"),
            choices=record.get("choices"),
            subset_key=record.get("key"),
        )


class Make(Protocol):
    """Return an adapter for a benchmark named ``demo`` whose files are ``files``."""

    def __call__(
        self,
        files: Mapping[str, Rows] | None = None,
        cls: type[DefaultDataAdapter] = QA,
        *,
        options: Mapping[str, Any] | None = None,
        **meta: Any,
    ) -> Any: ...


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str | bytes], Path]:
    """Write a file below ``tmp_path``."""

    def write_file(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file


@pytest.fixture
def make(tmp_path: Path, write: Callable[[str, str | bytes], Path]) -> Make:
    """Build an adapter; ``files`` maps a path below ``<data_dir>/demo`` to its records."""

    def build(
        files: Mapping[str, Rows] | None = None,
        cls: type[DefaultDataAdapter] = QA,
        *,
        options: Mapping[str, Any] | None = None,
        **meta: Any,
    ) -> Any:
        for name, rows in (files or {}).items():
            write(f"demo/{name}", "".join(json.dumps(row) + "\n" for row in rows))
        chosen = {"data_dirs": (tmp_path,), "where": "test_demo.py", **(options or {})}
        return cls(
            benchmark_meta=BenchmarkMeta(**{"name": "demo", **meta}),
            options=AdapterOptions(**chosen),
        )

    return build
