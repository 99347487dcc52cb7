"""Root conftest: what both the tests and the shipped benchmarks need."""

from __future__ import annotations

pytest_plugins = ["pytester"]
