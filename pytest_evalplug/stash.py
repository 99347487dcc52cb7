"""What ``config.stash`` keeps of this process; light, as every pytest run imports it."""

from __future__ import annotations

__all__ = [
    "MANIFEST",
    "RUN_CONFIG",
    "SAMPLE",
    "SECRETS",
    "SESSION",
    "WORKER_INPUT",
    "run_config",
    "secrets_of",
    "session_of",
    "worker_input",
]

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import warnings

    from pytest_evalplug.masking import Secrets
    from pytest_evalplug.options import RunConfig
    from pytest_evalplug.session import EvalSession

RUN_CONFIG = pytest.StashKey["RunConfig"]()
SESSION = pytest.StashKey["EvalSession"]()
SECRETS = pytest.StashKey["Secrets"]()
WORKER_INPUT = "evalplug"
"""The key of ours in xdist's ``workerinput`` and ``workeroutput``."""

SAMPLE = "evalplug_sample"
"""Attribute of a report that belongs to a sample's item."""
MANIFEST = "manifest.json"
"""In the run's journal folder: what its processes will run."""


def run_config(config: pytest.Config) -> RunConfig:
    """Return the settings of this run, resolved when something asks for them first.

    The controlling process also gets its Controller then. Raises pytest.UsageError.
    """
    if RUN_CONFIG not in config.stash:
        told = worker_input(config)
        if told is None:
            from pytest_evalplug.controller import take_control

            take_control(config)
        else:
            from pytest_evalplug.options import RunConfig

            config.stash[RUN_CONFIG] = RunConfig.from_wire(told["config"])
        secrets_of(config)
    return config.stash[RUN_CONFIG]


def session_of(config: pytest.Config) -> EvalSession:
    """Return the process's EvalSession, made when something asks for it first."""
    if SESSION not in config.stash:
        from pytest_evalplug.planning import Role
        from pytest_evalplug.session import EvalSession

        told = worker_input(config)
        role = Role(**told["role"]) if told else Role()
        path = Path(told["run_path"]) if told else None
        config.stash[SESSION] = EvalSession(run_config(config), role, path, secrets_of(config))
    return config.stash[SESSION]


def secrets_of(config: pytest.Config) -> Secrets:
    """Return the secrets in the models' tables and in the environment of this process."""
    if SECRETS not in config.stash:
        from pytest_evalplug.masking import Secrets
        from pytest_evalplug.options import model_tables

        run = run_config(config)
        specs = [*run.models, *([run.judge] if run.judge else [])]
        secrets = Secrets(model_tables(config), [spec.to_wire() for spec in specs])
        config.stash[SECRETS] = secrets
        config.pluginmanager.register(_Shown(secrets))
    return config.stash[SECRETS]


class _Shown:
    """What pytest shows without a report: internal errors, perhaps with variables, and warnings."""

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets

    @pytest.hookimpl(tryfirst=True)
    def pytest_internalerror(self, excrepr: object) -> None:
        from pytest_evalplug.report.outcome import change_texts

        change_texts(excrepr, self._secrets.hide)

    @pytest.hookimpl(tryfirst=True)
    def pytest_warning_recorded(self, warning_message: warnings.WarningMessage) -> None:
        from pytest_evalplug.report.text import clean

        text = str(warning_message.message)
        shown = clean(self._secrets.hide(text))
        if shown != text and isinstance(warning_message.message, Warning):
            warning_message.message.args = (shown,)


def worker_input(config: pytest.Config) -> dict[str, Any] | None:
    """Return what the controller told this worker, or None outside a worker."""
    told: dict[str, Any] = getattr(config, "workerinput", {})
    return told.get(WORKER_INPUT)
