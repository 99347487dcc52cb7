"""Root conftest: what both the tests and the shipped benchmarks need."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of the real model in one process, where they share one copy of it."""
    for item in items:
        if item.get_closest_marker("real_model"):
            item.add_marker(pytest.mark.xdist_group("real_model"))
