"""Runs pytest in pytest."""

from __future__ import annotations

# An in-process run forgets the modules that it imported first: these stay the same in all runs.
import pytest_evalplug.evaluation.config
import pytest_evalplug.finish
import pytest_evalplug.session  # noqa: F401
