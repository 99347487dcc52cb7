"""pytest runs real pytest: each test has a suite of benchmarks of its own."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy  # noqa: F401  # see below; numpy can't be imported twice in a process
import pytest

# An in-process run forgets the modules that it imported first. These stay, which saves time and
# keeps classes the same in all runs.
import pytest_evalplug.dataset.multi_choice
import pytest_evalplug.evaluation.evaluators.accuracy
import pytest_evalplug.evaluation.postprocess.number
import pytest_evalplug.finish
import pytest_evalplug.report.dashboard
import pytest_evalplug.report.junit
import pytest_evalplug.report.outputs
import pytest_evalplug.report.progress
import pytest_evalplug.report.properties
import pytest_evalplug.report.step_summary
import pytest_evalplug.report.terminal
import pytest_evalplug.scheduling
import pytest_evalplug.session
import pytest_evalplug.summary.variants
import pytest_evalplug.viz  # noqa: F401
from pytest_evalplug.evaluation.registry import evaluators, postprocessors

from .project import Project


@pytest.fixture(autouse=True)
def registries() -> Iterator[None]:
    """What a pytest in this process has registered goes with its modules, and only that.

    A built-in whose module stays is registered once only: without its entry it is unknown.
    """
    yield
    for registry in (evaluators, postprocessors):
        entries: dict[str, Any] = registry._entries
        for name in [n for n, e in entries.items() if e.__module__ not in sys.modules]:
            del entries[name]


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A suite with a scripted model; its environment has no EVALPLUG_ variables."""
    import os

    for name in list(os.environ):
        if name.startswith("EVALPLUG_"):
            monkeypatch.delenv(name)
    return Project(pytester)


@pytest.fixture(params=[(), ("-n2",)], ids=["plain", "n2"])
def mode(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """How pytest runs the items: alone, or on two workers."""
    args: tuple[str, ...] = request.param
    return args


@pytest.fixture(params=[(), ("-n0",), ("-n2",)], ids=["plain", "n0", "n2"])
def every_mode(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """As ``mode``, and with xdist at rest."""
    args: tuple[str, ...] = request.param
    return args
