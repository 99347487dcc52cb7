"""Shared by all tests: the real data, the labelled cases."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import settings

from pytest_evalplug.evaluation.registry import evaluators, postprocessors

settings.register_profile("ci", max_examples=30, derandomize=True)
if "CI" in os.environ:  # all end in time, and the same commit gives the same outcome
    settings.load_profile("ci")

SHARED = Path(__file__).resolve().parents[2] / "shared"
TOGETHER = (
    "tests/benchmarks/",
    "tests/evaluation/sandbox/test_attacks.py",
    "tests/model/",
    "tests/parity/",
    "tests/ports/",
    "tests/report/viewer/",
)
"""Tests that share what is costly to set up: a model, a browser, attacks on a sandbox."""


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With ``--dist loadscope``, keep only those in one process; others run where there is room."""
    if config.getoption("dist") != "loadscope":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return next(filter(nodeid.startswith, TOGETHER), nodeid)

    return Scheduling(config, log)


@pytest.fixture(autouse=True)
def own_modules(request: pytest.FixtureRequest) -> Iterator[None]:
    """A pytest in this process forgets modules; so do then the packages that they are in.

    Else one that is patched by its path is an old one, and the next import makes another.
    """
    yield
    if "pytester" not in request.fixturenames:
        return
    for package in [m for n, m in sys.modules.items() if n.startswith("pytest_evalplug")]:
        for name, value in list(vars(package).items()):
            if isinstance(value, ModuleType) and value.__name__ == f"{package.__name__}.{name}":
                if value.__name__ in sys.modules:
                    setattr(package, name, sys.modules[value.__name__])
                else:
                    delattr(package, name)


@pytest.fixture(autouse=True)
def own_registrations() -> Iterator[None]:
    """What a test, or a pytest that it runs in this process, registers goes when it ends."""
    yield
    for registry in (postprocessors, evaluators):
        entries: dict[str, Any] = registry._entries
        for name in [n for n, e in entries.items() if not _of_the_package(e)]:
            del entries[name]


def _of_the_package(entry: object) -> bool:
    return getattr(entry, "__module__", "").startswith("pytest_evalplug.")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real benchmark data; skips where it is absent."""
    path = Path(os.environ.get("EVALPLUG_DATA_DIR", SHARED / "data"))
    if not path.is_dir():
        pytest.skip(f"no benchmark data at {path} (set EVALPLUG_DATA_DIR)")
    return path


@pytest.fixture(scope="session")
def cases() -> Callable[[str], list[dict[str, Any]]]:
    """Return a reader of labelled cases by file name; skips where they are absent."""

    def read(name: str) -> list[dict[str, Any]]:
        path = Path(os.environ.get("EVALPLUG_CASES_DIR", SHARED / "cases")) / f"{name}.jsonl"
        if not path.is_file():
            pytest.skip(f"no labelled cases at {path} (set EVALPLUG_CASES_DIR)")
        with path.open(encoding="utf-8", newline="\n") as lines:
            return [json.loads(line) for line in lines]

    return read
