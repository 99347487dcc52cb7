"""Attacks on whole runs: suites of their own, as in the end-to-end tests."""

from __future__ import annotations

from tests.e2e.conftest import project, registries  # noqa: F401
from tests.servers import api_server  # noqa: F401
