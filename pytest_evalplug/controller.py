"""What only the process that sees the whole run does: the run directory, the end, the exit status.

That is the one pytest process, or under pytest-xdist the controller.
"""

from __future__ import annotations

__all__ = ["CONTROLLER", "Controller", "take_control"]

from collections.abc import Generator
from contextlib import nullcontext
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest

from pytest_evalplug.errors import EvalplugError
from pytest_evalplug.options import RunConfig
from pytest_evalplug.report.header import header
from pytest_evalplug.report.kept import KeptReports
from pytest_evalplug.report.outcome import Tally, exit_status, status_of
from pytest_evalplug.run_holder import RunHolder
from pytest_evalplug.stash import MANIFEST, RUN_CONFIG, SAMPLE, SESSION
from pytest_evalplug.stopping import Signals
from pytest_evalplug.workers import Workers

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
    controller = Controller(config)
    config.pluginmanager.register(controller, CONTROLLER)
    config.pluginmanager.register(controller.workers)


class Controller:
    """Registered as a plugin in the controlling process, at the latest with the first benchmark."""

    def __init__(self, config: pytest.Config) -> None:
        self._pytest_config = config
        self._holder = RunHolder(config, self._watch_signals)
        self.workers = Workers(config, self._holder)
        session = config.pluginmanager.getplugin("session")
        self._tally = Tally(failed=session.testsfailed if session else 0)
        self._outcome: Outcome | None = None
        self._progress: Progress | None = None
        self._kept = KeptReports()
        self._started = datetime.now()
        self._uncollected = self._tally.failed > 0
        self._finished = False
        self._gates: list[GateResult] | None = None
        """What came of the gates, once that is reported."""
        self._signals: Signals | None = None

    @property
    def _config(self) -> RunConfig:
        return self._holder.config

    # --- the beginning

    def pytest_report_header(self) -> str | None:
        """Say what is evaluated, where the options do."""
        return header(self._config)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        self._holder.follow()
        if self._config.is_evaluation and not self._pytest_config.option.collectonly:
            self.open_run()

    def open_run(self) -> RunDirectory:
        """Create the run directory, or go on in an earlier one; the first call does."""
        return self._holder.open()

    def _watch_signals(self) -> None:
        self._signals = Signals(self._stop_now)

    def _stop_now(self) -> bool:
        """At the second Ctrl-C, wait for no worker and compute nothing; alone, let pytest do so."""
        self._finished = True
        return self.workers.tell(now=True)

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
            self._kept.keep(report)

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
        if not self.workers.running:
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
            stopped=self.workers.stopped or bool(session.shouldfail),
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
            self.workers.counts.update(own.counts())
        manifest = self._manifest()
        run = self._holder.found()
        if run is None:
            return
        if not manifest.parts:
            self._holder.close(empty=True)
            return
        self._outcome = self._compute(run, manifest, own)
        if self._gates is not None:
            self._outcome.gates = self._gates
        self._outcome.notes += self.workers.notes
        self._outcome.notes += [f"damaged: {what}" for what in self._holder.damaged]
        if own is not None and own.unkept is not None:
            self._outcome.fail(str(own.unkept))
        self._pytest_config.hook.pytest_evalplug_finished(
            config=self._pytest_config, outcome=self._outcome
        )
        self._holder.close()

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

    def _manifest(self) -> Manifest:
        from pytest_evalplug.wire import Manifest

        if (
            SESSION in self._pytest_config.stash
            and self._pytest_config.stash[SESSION].manifest.parts
        ):
            return self._pytest_config.stash[SESSION].manifest
        run = self._holder.found()
        return Manifest.read(run.journal / MANIFEST) if run else Manifest()

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter, exitstatus: int
    ) -> None:
        if self._outcome is not None:
            from pytest_evalplug.report.terminal import show

            show(terminalreporter, self._config, self._outcome, self.workers.counts)
        run = self._holder.run
        if run is not None and self._is_incomplete(exitstatus):
            go_on = f"--reuse {run.name}"
            terminalreporter.write_line(f"stopped before its end; what is missing: {go_on}")

    def _is_incomplete(self, exitstatus: int) -> bool:
        session: Any = self._pytest_config.pluginmanager.getplugin("session")
        stopped = exitstatus == pytest.ExitCode.INTERRUPTED or self.workers.stopped
        return stopped or bool(session and session.shouldfail)

    def pytest_unconfigure(self) -> None:
        if self._signals:
            self._signals.undo()
