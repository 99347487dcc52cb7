"""Where ``config.stash`` keeps this process's state; light, as every pytest run imports it."""

from __future__ import annotations

__all__ = ["MANIFEST", "RUN_CONFIG", "SAMPLE", "SESSION", "WORKER_INPUT", "session_of"]

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_evalplug.options import RunConfig

if TYPE_CHECKING:
    from pytest_evalplug.session import EvalSession

RUN_CONFIG = pytest.StashKey[RunConfig]()
SESSION = pytest.StashKey["EvalSession"]()
WORKER_INPUT = "evalplug"
"""The key of ours in xdist's ``workerinput`` and ``workeroutput``."""

SAMPLE = "evalplug_sample"
"""Attribute of a report that belongs to a sample's item."""
MANIFEST = "manifest.json"
"""In the run's journal folder: what the workers of a run will run."""


def session_of(config: pytest.Config) -> EvalSession:
    """Return the process's EvalSession, made when something asks for it first."""
    if SESSION not in config.stash:
        from pytest_evalplug.planning import Role
        from pytest_evalplug.session import EvalSession

        told = worker_input(config)
        role = Role(**told["role"]) if told else Role()
        path = Path(told["run_path"]) if told else None
        config.stash[SESSION] = EvalSession(config.stash[RUN_CONFIG], role, path)
    return config.stash[SESSION]


def worker_input(config: pytest.Config) -> dict[str, Any] | None:
    """Return what the controller told this worker, or None outside a worker."""
    told: dict[str, Any] = getattr(config, "workerinput", {})
    return told.get(WORKER_INPUT)
