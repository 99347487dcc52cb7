"""The processes that the tests of faults start and kill."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.lab import Lab, Zygote

if sys.platform != "linux":
    collect_ignore_glob = ["test_*.py"]  # fork, process groups, resource limits


@pytest.fixture(scope="package")
def zygote() -> Iterator[Zygote]:
    """What starts processes."""
    zygote = Zygote()
    yield zygote
    zygote.close()


@pytest.fixture
def lab(tmp_path: Path, zygote: Zygote) -> Iterator[Lab]:
    """A suite of benchmarks and a model server."""
    lab = Lab(tmp_path, zygote)
    yield lab
    lab.close()
