"""What only the process that sees the whole run does: the run directory, the end, the exit status.

That is the one pytest process, or under pytest-xdist the controller.
"""

from __future__ import annotations

__all__ = ["CONTROLLER", "Controller", "take_control"]

import os
import shutil
from collections import Counter
from collections.abc import Generator, Mapping
from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_evalplug.errors import ConfigError, EvalplugError, one_line
from pytest_evalplug.options import RunConfig
from pytest_evalplug.report.header import header
from pytest_evalplug.report.outcome import Tally, exit_status, status_of
from pytest_evalplug.stash import MANIFEST, RUN_CONFIG, SAMPLE, SESSION, WORKER_INPUT
from pytest_evalplug.stopping import Signals, forget_stop, tell_workers

if TYPE_CHECKING:
    from pytest_evalplug.finish import Outcome
    from pytest_evalplug.report.progress import Progress
    from pytest_evalplug.run.directory import RunDirectory
    from pytest_evalplug.session import EvalSession
    from pytest_evalplug.summary.gates import GateResult
    from pytest_evalplug.wire import Manifest

CONTROLLER = "evalplug-controller"


def take_control(config: pytest.Config) -> None:
    """Resolve the options and register the Controller. Raises pytest.UsageError for a bad one."""
    try:
        config.stash[RUN_CONFIG] = RunConfig.from_pytest(config)
    except EvalplugError as error:
        raise pytest.UsageError(str(error)) from None
    config.pluginmanager.register(Controller(config), CONTROLLER)


class Controller:
    """Registered as a plugin in the controlling process, at the latest with the first benchmark."""

    def __init__(self, config: pytest.Config) -> None:
        self._pytest_config = config
        self._config = config.stash[RUN_CONFIG]
        session = config.pluginmanager.getplugin("session")
        self._tally = Tally(failed=session.testsfailed if session else 0)
        self._run: RunDirectory | None = None
        self._fresh = False
        self._counts = Counter[str]()
        self._outcome: Outcome | None = None
        self._progress: Progress | None = None
        self._late_path: Path | None = None
        self._workers: set[str] = set()
        """The workers of xdist that still run, and may write into the run directory."""
        self._stopped = False
        self._started = datetime.now()
        self._uncollected = self._tally.failed > 0
        self._finished = False
        self._gates: list[GateResult] | None = None
        """What came of the gates, once that is reported."""
        self._unplanned = ""
        self._copies = ""
        self._damaged: list[str] = []
        """What of an earlier session could not be read."""
        self._signals: Signals | None = None

    # --- the run directory

    def pytest_report_header(self) -> str | None:
        """Say what is evaluated, where the options do."""
        return header(self._config)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        if self._earlier_run:
            self._follow_saved_run(self._earlier_run)
        if self._config.is_evaluation and not self._pytest_config.option.collectonly:
            self.open_run()

    @property
    def _earlier_run(self) -> str | None:
        """The run to go on in: its timestamp or ``latest``."""
        return self._config.reuse or ("latest" if self._config.stage == "eval" else None)

    def _follow_saved_run(self, which: str) -> None:
        """Take over the run's custom data; to score it, all that it was made with.

        What an option says goes before.
        """
        from pytest_evalplug.custom_files import take_over
        from pytest_evalplug.inference.saved import saved_models
        from pytest_evalplug.options import model_tables
        from pytest_evalplug.run.directory import RunDirectory
        from pytest_evalplug.run.snapshot import has_snapshot, read_snapshot

        try:
            run = RunDirectory.attach(RunDirectory.find(self._config.work_dir, which))
            if not has_snapshot(run) and self._config.stage != "eval":
                return  # it was killed before it began
            saved = read_snapshot(run, self._damaged)
            self._config = take_over(self._pytest_config, self._config, saved, run)
            if self._config.stage == "eval":
                self._config = self._config.following(saved, model_tables(self._pytest_config))
                if not self._config.models:
                    self._config = replace(self._config, saved=tuple(saved_models(run)))
        except EvalplugError as error:
            raise pytest.UsageError(str(error)) from None
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            why = f"{run.configs}: damaged snapshot: {one_line(error)}"
            raise pytest.UsageError(f"{why}. Start a new run") from None
        self._pytest_config.stash[RUN_CONFIG] = self._config

    def open_run(self) -> RunDirectory:
        """Create the run directory, or go on in an earlier one; the first call does."""
        if self._run is not None:
            return self._run
        from pytest_evalplug.run.details import DetailStore
        from pytest_evalplug.run.directory import RunDirectory
        from pytest_evalplug.run.jsonio import storing

        try:
            if self._earlier_run:
                self._run = RunDirectory.open(self._config.work_dir, self._earlier_run)
                self._check_reused(self._run)
            else:
                self._run = RunDirectory.create(self._config.work_dir)
                self._fresh = True
            DetailStore(self._run).clear()
            with storing(self._run.path):
                budget = self._run.path / "limits" / "budget.json"
                budget.unlink(missing_ok=True)  # it is a session's
                (self._run.journal / MANIFEST).unlink(missing_ok=True)
                forget_stop(self._run.journal)
            self._begin(self._run)
        except EvalplugError as error:
            if self._run is not None:
                self._run.close()
            raise pytest.UsageError(str(error)) from None
        return self._run

    def _begin(self, run: RunDirectory) -> None:
        """Note what the run is started with; from now on a signal ends it in order."""
        from pytest_evalplug.finish import snapshot

        snapshot(self._config, run, self._pytest_config.invocation_params.args)
        self._signals = Signals(self._stop_now)

    def _check_reused(self, run: RunDirectory) -> None:
        """Refuse what would replace the predictions of another mode, or the baseline's scores."""
        from pytest_evalplug.run.snapshot import has_snapshot, read_snapshot

        mode = read_snapshot(run)["eval_mode"] if has_snapshot(run) else self._config.eval_mode
        if mode != self._config.eval_mode:
            raise ConfigError(
                f"the run {run.name} was made with --eval-mode={mode}",
                where=f"--reuse with --eval-mode={self._config.eval_mode}",
                fix="Start a new run, without --reuse",
            )
        if self._config.baseline and Path(self._config.baseline).samefile(run.path):
            raise ConfigError(
                f"the run {run.name} can't be its own baseline",
                where="--eval-baseline",
                fix="Name an earlier one",
            )

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker of xdist its part."""
        self._workers.add(node.workerinput["workerid"])
        if self._run is None:
            # nothing says that there are benchmarks: the worker that finds one makes the folder
            from pytest_evalplug.run.directory import next_time

            work_dir = self._config.work_dir
            self._late_path = self._late_path or work_dir / f"{next_time(work_dir)}-{os.getpid()}"
        path = self._run.path if self._run else self._late_path
        number = int("".join(filter(str.isdigit, node.workerinput["workerid"])) or 0)
        count = int(node.workerinput["workercount"])
        dist = self._pytest_config.getoption("dist")
        ahead = dist == "load" and number < count
        if dist != "load":
            self._unplanned = (
                f"no look-ahead with --dist {dist}: each sample is asked for when its test runs. "
                "Use -n alone for batches and concurrent requests"
            )
        if self._config.stage != "eval":
            from pytest_evalplug.model.devices import copies_note

            self._copies = copies_note(self._config.models, count)
        node.workerinput[WORKER_INPUT] = {
            "config": self._config.to_wire(),
            "run_path": str(path),
            "role": {
                "worker": node.workerinput["workerid"],
                "number": number,
                "count": count,
                "ahead": ahead,
            },
        }

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> Any:
        """Deal items so that workers can look ahead."""
        if config.getoption("dist") != "load":
            return None
        from pytest_evalplug.scheduling import LateScheduling

        return LateScheduling(config, log, lambda: self._found_run() is not None)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self) -> None:
        """A worker that has found benchmarks has made the run directory before it says so."""
        self._found_run()

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Add up what a worker counted; note whether a failure made it stop."""
        self._workers.discard(node.workerinput["workerid"])
        output: Mapping[str, Any] = getattr(node, "workeroutput", None) or {}
        self._counts.update(output.get(WORKER_INPUT, {}))
        self._stopped = self._stopped or bool(output.get("shouldfail"))

    @pytest.hookimpl(tryfirst=True)
    def pytest_keyboard_interrupt(self) -> None:
        """Let the workers know: they ask nothing more."""
        if self._workers and self._run is not None:
            tell_workers(self._run.journal)

    def _stop_now(self) -> bool:
        """At the second Ctrl-C, wait for no worker and compute nothing; alone, let pytest do so."""
        self._finished = True
        if self._workers and self._run is not None:
            tell_workers(self._run.journal, now=True)
        return bool(self._workers)

    # --- while items run

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self, location: tuple[str, int | None, str]) -> None:
        if self._signals:
            self._signals.forget()
        if self._progress:
            self._progress.column = len(location[0])
            self._progress.clear()

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self._tally.failed += report.failed
        self._uncollected |= report.failed

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None]:
        self._logged(report)
        yield
        if hasattr(report, SAMPLE):
            from pytest_evalplug.report.properties import shorten_texts

            shorten_texts(report)

    def _logged(self, report: pytest.TestReport) -> None:
        self._tally.count(report)
        if not hasattr(report, SAMPLE):
            return
        progress = self._progress or self.start_progress()
        if progress is None:
            return
        progress.wrong, progress.errors = self._tally.wrong, self._tally.failed
        if report.when == "teardown":
            progress.advance()

    def start_progress(self) -> Progress | None:
        """Begin to show how far the run is; None where there is no terminal reporter."""
        reporter = self._pytest_config.pluginmanager.getplugin("terminalreporter")
        if reporter is None or self._progress is not None:
            return self._progress
        from pytest_evalplug.report.progress import Progress

        capture = self._pytest_config.pluginmanager.getplugin("capturemanager")
        uncaptured = capture.global_and_fixture_disabled if capture else nullcontext
        self._progress = Progress(reporter, uncaptured=uncaptured)
        self._progress.begin(sum(len(part.indices) for part in self._manifest().parts))
        if SESSION in self._pytest_config.stash:
            session = self._pytest_config.stash[SESSION]
            session.tick = self._progress.tick
            self._progress.ready = session.ready
        return self._progress

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> Any:
        status = status_of(report)
        if self._progress and self._progress.interactive and hasattr(report, SAMPLE):
            if status:
                return status[0], "", ""
            if report.when == "call" and report.passed:
                return "passed", "", ""  # the bar shows it
        return status

    # --- the end

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        try:
            return (yield)
        finally:
            if not self._pytest_config.option.collectonly:
                self._end_of_loop(session)

    def _end_of_loop(self, session: pytest.Session) -> None:
        """Finish the run, unless workers still write (after Ctrl-C); then its gates, as tests."""
        if not self._workers:
            self._finish()
        interrupted = (
            self._uncollected and not self._pytest_config.option.continue_on_collection_errors
        )
        if interrupted or not self._manifest().parts:
            return
        from pytest_evalplug.gating import unchecked
        from pytest_evalplug.report.gates import report_gates

        if self._outcome is not None:
            self._gates = self._outcome.gates
        else:
            self._gates = unchecked(self._config, "failed", "the run was stopped before its end")
        report_gates(self._pytest_config, session, self._gates)

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> Generator[None]:
        try:
            yield  # xdist ends its workers here; until then they write into the run directory
        finally:
            self._finish()
        session.exitstatus = exit_status(
            exitstatus,
            self._tally,
            strict=self._config.strict,
            maxfail=self._pytest_config.getoption("maxfail"),
            stopped=self._stopped or bool(session.shouldfail),
        )
        if self._outcome is not None:
            from pytest_evalplug.report.outputs import end_session

            end_session(session, self._config, self._outcome, self._tally, self._started)

    def _finish(self) -> None:
        """Compute and write everything, once."""
        if self._finished:
            return
        self._finished = True
        if self._progress:
            self._progress.close()
        own = self._pytest_config.stash.get(SESSION, None)
        if own is not None:
            own.close()
            self._counts.update(own.counts())
        manifest = self._manifest()
        run = self._found_run()
        if run is None:
            return
        if not manifest.parts:
            run.close()
            if self._fresh:
                shutil.rmtree(run.path, ignore_errors=True)
            return
        self._outcome = self._compute(run, manifest, own)
        if self._gates is not None:
            self._outcome.gates = self._gates
        self._outcome.notes += filter(None, (self._unplanned, self._copies))
        self._outcome.notes += [f"damaged: {what}" for what in self._damaged]
        if own is not None and own.unkept is not None:
            self._outcome.fail(str(own.unkept))
        self._pytest_config.hook.pytest_evalplug_finished(
            config=self._pytest_config, outcome=self._outcome
        )
        run.close()

    def _compute(self, run: RunDirectory, manifest: Manifest, own: EvalSession | None) -> Outcome:
        from pytest_evalplug.finish import Outcome, finish
        from pytest_evalplug.gating import unchecked

        try:
            return finish(self._config, run, manifest, own)
        except EvalplugError as error:  # a damaged file: nothing is lost, but nothing is known
            gates = unchecked(self._config, "failed", "the scores could not be computed")
            outcome = Outcome(run, gates=gates)
            outcome.fail(str(error))
            return outcome

    def _found_run(self) -> RunDirectory | None:
        """Return the run directory; takes over the one that the workers have made by then."""
        if self._run is None and self._late_path is not None and self._late_path.is_dir():
            from pytest_evalplug.run.directory import RunDirectory

            path, self._late_path = self._late_path, None  # one that can't be had is one error
            try:
                self._run = RunDirectory.adopt(path)
                self._begin(self._run)
            except EvalplugError as error:
                raise pytest.UsageError(str(error)) from None
        return self._run

    def _manifest(self) -> Manifest:
        from pytest_evalplug.wire import Manifest

        if (
            SESSION in self._pytest_config.stash
            and self._pytest_config.stash[SESSION].manifest.parts
        ):
            return self._pytest_config.stash[SESSION].manifest
        run = self._found_run()
        return Manifest.read(run.journal / MANIFEST) if run else Manifest()

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter, exitstatus: int
    ) -> None:
        if self._outcome is not None:
            from pytest_evalplug.report.terminal import show

            show(terminalreporter, self._config, self._outcome, self._counts)
        if self._run is not None and self._is_incomplete(exitstatus):
            go_on = f"--reuse {self._run.name}"
            terminalreporter.write_line(f"stopped before its end; what is missing: {go_on}")

    def _is_incomplete(self, exitstatus: int) -> bool:
        session: Any = self._pytest_config.pluginmanager.getplugin("session")
        stopped = exitstatus == pytest.ExitCode.INTERRUPTED or self._stopped
        return stopped or bool(session and session.shouldfail)

    def pytest_unconfigure(self) -> None:
        if self._signals:
            self._signals.undo()
