"""The run directory in the process that sees the whole run: found, made, or taken over."""

from __future__ import annotations

__all__ = ["RunHolder"]

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_evalplug.errors import ConfigError, EvalplugError, one_line
from pytest_evalplug.stash import MANIFEST, RUN_CONFIG
from pytest_evalplug.stopping import forget_stop

if TYPE_CHECKING:
    from pytest_evalplug.options import RunConfig
    from pytest_evalplug.run.directory import RunDirectory


class RunHolder:
    """Holds at most one run, from its first use to the end of the session."""

    def __init__(self, config: pytest.Config, begun: Callable[[], None]) -> None:
        self._pytest_config = config
        self._begun = begun
        """Called once, when there is a run."""
        self.run: RunDirectory | None = None
        self.fresh = False
        """This session has made it."""
        self.damaged: list[str] = []
        """What of an earlier session could not be read."""
        self._late_path: Path | None = None
        """Where workers make it, if they find that there is something to evaluate."""

    @property
    def config(self) -> RunConfig:
        """The options, as far as they are resolved."""
        return self._pytest_config.stash[RUN_CONFIG]

    def follow(self) -> None:
        """Take over the earlier run's custom data; to score it, all that it was made with.

        What an option says goes before. Raises pytest.UsageError.
        """
        if self._earlier_run is None:
            return
        from pytest_evalplug.custom_files import take_over
        from pytest_evalplug.inference.saved import saved_models
        from pytest_evalplug.options import model_tables
        from pytest_evalplug.run.directory import RunDirectory
        from pytest_evalplug.run.snapshot import has_snapshot, read_snapshot

        config = self.config
        try:
            run = RunDirectory.attach(RunDirectory.find(config.work_dir, self._earlier_run))
            if not has_snapshot(run) and config.stage != "eval":
                return  # it was killed before it began
            saved = read_snapshot(run, self.damaged)
            config = take_over(self._pytest_config, config, saved, run)
            if config.stage == "eval":
                config = config.following(saved, model_tables(self._pytest_config))
                if not config.models:
                    config = replace(config, saved=tuple(saved_models(run)))
        except EvalplugError as error:
            raise pytest.UsageError(str(error)) from None
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            why = f"{run.configs}: damaged snapshot: {one_line(error)}"
            raise pytest.UsageError(f"{why}. Start a new run") from None
        self._pytest_config.stash[RUN_CONFIG] = config

    @property
    def _earlier_run(self) -> str | None:
        """The run to go on in: its timestamp or ``latest``."""
        return self.config.reuse or ("latest" if self.config.stage == "eval" else None)

    def open(self) -> RunDirectory:
        """Create the run directory, or go on in an earlier one; the first call does.

        Raises pytest.UsageError if it can't be had.
        """
        if self.run is not None:
            return self.run
        from pytest_evalplug.run.details import DetailStore
        from pytest_evalplug.run.directory import RunDirectory
        from pytest_evalplug.run.jsonio import storing

        try:
            if self._earlier_run:
                self.run = RunDirectory.open(self.config.work_dir, self._earlier_run)
                self._check_reused(self.run)
            else:
                self.run = RunDirectory.create(self.config.work_dir)
                self.fresh = True
            DetailStore(self.run).clear()
            with storing(self.run.path):
                budget = self.run.path / "limits" / "budget.json"
                budget.unlink(missing_ok=True)  # it is a session's
                (self.run.journal / MANIFEST).unlink(missing_ok=True)
                forget_stop(self.run.journal)
            self._begin(self.run)
        except EvalplugError as error:
            if self.run is not None:
                self.run.close()
            raise pytest.UsageError(str(error)) from None
        return self.run

    def path(self) -> Path:
        """Return where the run is, or where the worker that finds a benchmark makes it."""
        if self.run is not None:
            return self.run.path
        if self._late_path is None:
            from pytest_evalplug.run.directory import next_time

            work_dir = self.config.work_dir
            self._late_path = work_dir / f"{next_time(work_dir)}-{os.getpid()}"
        return self._late_path

    def found(self) -> RunDirectory | None:
        """Return the run directory; takes over the one that the workers have made by then.

        Raises pytest.UsageError if it can't be had.
        """
        if self.run is None and self._late_path is not None and self._late_path.is_dir():
            from pytest_evalplug.run.directory import RunDirectory

            path, self._late_path = self._late_path, None  # one that can't be had is one error
            try:
                self.run = RunDirectory.adopt(path)
                self._begin(self.run)
            except EvalplugError as error:
                raise pytest.UsageError(str(error)) from None
        return self.run

    def close(self, *, empty: bool = False) -> None:
        """Give the run's lock back; one that was made for nothing goes."""
        if self.run is not None:
            self.run.close()
            if empty and self.fresh:
                shutil.rmtree(self.run.path, ignore_errors=True)

    def _begin(self, run: RunDirectory) -> None:
        """Note what the run is started with."""
        from pytest_evalplug.finish import snapshot

        snapshot(self.config, run, self._pytest_config.invocation_params.args)
        self._begun()

    def _check_reused(self, run: RunDirectory) -> None:
        """Refuse what would replace the predictions of another mode, or the baseline's scores."""
        from pytest_evalplug.run.snapshot import has_snapshot, read_snapshot

        mode = read_snapshot(run)["eval_mode"] if has_snapshot(run) else self.config.eval_mode
        if mode != self.config.eval_mode:
            raise ConfigError(
                f"the run {run.name} was made with --eval-mode={mode}",
                where=f"--reuse with --eval-mode={self.config.eval_mode}",
                fix="Start a new run, without --reuse",
            )
        if self.config.baseline and Path(self.config.baseline).samefile(run.path):
            raise ConfigError(
                f"the run {run.name} can't be its own baseline",
                where="--eval-baseline",
                fix="Name an earlier one",
            )
