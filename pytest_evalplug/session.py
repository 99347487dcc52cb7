"""One process's part of a run: what it collected, its engines, its journals."""

from __future__ import annotations

__all__ = ["EvalSession"]

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from pytest_evalplug.collection import Benchmark, case_of
from pytest_evalplug.errors import EvalplugError, StorageError, WrongAnswer
from pytest_evalplug.inference.budget import Limits
from pytest_evalplug.inference.case import Case
from pytest_evalplug.inference.records import Record
from pytest_evalplug.logs import close_log, open_log
from pytest_evalplug.masking import Secrets
from pytest_evalplug.options import RunConfig
from pytest_evalplug.planning import Role, decides, manifest_of, plan_of, skipped
from pytest_evalplug.report.outcome import finish_report, hide_secrets, status_of
from pytest_evalplug.report.text import clean
from pytest_evalplug.run.details import DetailStore
from pytest_evalplug.run.directory import RunDirectory
from pytest_evalplug.run.predictions import PredictionStore
from pytest_evalplug.sources import Source, Sources
from pytest_evalplug.stash import MANIFEST, SAMPLE
from pytest_evalplug.stopping import Signals, follow_controller
from pytest_evalplug.types import Detail
from pytest_evalplug.verdicts import Evaluation, Verdicts, outcome_detail
from pytest_evalplug.wire import Manifest


class EvalSession:
    """Owns everything that lives as long as the process's test session."""

    def __init__(
        self, config: RunConfig, role: Role, run_path: Path | None, secrets: Secrets
    ) -> None:
        self.config = config
        self.role = role
        self.secrets = secrets
        self.benchmarks: dict[str, Benchmark] = {}
        self.verdicts = Verdicts(self.benchmarks, config.sample_timeout)
        self.manifest = Manifest()
        self.tick: Callable[[], None] | None = None
        """Called while an item waits, for progress."""
        self._run_path = run_path
        self._joined: RunDirectory | None = None
        """The run directory in a worker, which holds a lock of its own on it."""
        self.sources = Sources(config, role, self.verdicts, secrets.hide)
        self.store: PredictionStore | None = None
        """Saved predictions, once the run directory is open."""
        self.details: DetailStore | None = None
        """Saved verdicts, likewise."""
        self._decided: set[Case] = set()
        """Cases that ``test_sample`` judges, where others test them too."""
        self.unkept: StorageError | None = None
        """Why a verdict or a prediction could not be written."""
        self._log: logging.Handler | None = None

    # --- before the first item

    def collected(self, items: Sequence[pytest.Item]) -> None:
        """In a worker: make the run directory before the controller hears what was collected.

        By that it knows that samples are evaluated, and so how to deal the items.
        """
        if self._run_path is not None and any(case_of(item) is not None for item in items):
            with suppress(OSError):  # start() says so
                RunDirectory.attach(self._run_path).journal.mkdir(parents=True, exist_ok=True)

    def start(
        self, items: Sequence[pytest.Item], open_run: Callable[[], RunDirectory] | None
    ) -> None:
        """Take note of what will run, in this order, and open the run directory for it.

        Raises StorageError if it can't be written to.
        """
        self.manifest = manifest_of(self.benchmarks, items)
        if not self.manifest.parts:
            return
        if not all(map(decides, items)):
            self._decided = {c for i in items if decides(i) and isinstance(c := case_of(i), Case)}
        self.sources.plan(plan_of(items, self.role))
        if self.config.stage != "infer":
            self.verdicts.expect(items)
        if open_run is not None:
            run = open_run()
        else:
            assert self._run_path is not None
            run = self._joined = RunDirectory.join(self._run_path, self.role.worker)
            signals = follow_controller(self.stop, run.journal)
            # a worker has a terminal reporter too, which would list every "failed" item at its end
            items[0].config.pluginmanager.register(_WorkerHooks(self.stop, signals))
        self.open(run)
        self.manifest.write(run.journal / MANIFEST)

    def open(self, run: RunDirectory) -> None:
        """Begin to write into the run directory."""
        self.store = PredictionStore(run, self.role.worker)
        self.details = DetailStore(run, self.role.worker)
        limits = Limits(run, self.config.max_tokens, self.config.max_cost, self.role.worker)
        self.sources.open(run, self.store, limits)
        self.verdicts.open(run, self.role.worker, self.role.count, self.config.judge, limits)
        self._log = open_log(run.infer_logs / f"{self.role.worker}.log", self.secrets.hide)

    # --- while items run

    def predict(self, case: Case, request: pytest.FixtureRequest) -> tuple[str, Record]:
        """Return the model's name and the prediction record. Raises ModelError, StorageError."""
        source: Source | None = None
        try:
            source = self.sources.of(case, request)
            return source.model.name, source.result(case, self.tick)
        except EvalplugError as error:
            final = error if isinstance(error, StorageError) else getattr(source, "fatal", None)
            if final:
                request.session.shouldfail = clean(final)
            raise

    def evaluate(self, case: Case, model: str, record: Record) -> Evaluation:
        """Score one prediction, once, and keep the verdict."""
        if self.config.stage == "infer":
            return Evaluation(case, model, record, None)
        detail = self.verdicts.detail(case, model, record, self.tick)
        self.keep(case, model, detail)
        return Evaluation(case, model, record, detail)

    def failed(self, item: pytest.Item, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Spare pytest the look through a wrong answer's traceback, of which nothing is shown."""
        if isinstance(excinfo.value, WrongAnswer) and case_of(item) is not None:
            excinfo.traceback = excinfo.traceback[:0]

    def reported(
        self, item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport
    ) -> None:
        """Finish a report of a sample's item, and keep its outcome if nothing was scored.

        No report, of whatever item, shows a secret.
        """
        case = case_of(item)
        if case is None:
            hide_secrets(report, self.secrets.hide)
            return
        if isinstance(case, Case) and report.when == "teardown":
            if not skipped(item):
                self.sources.forget(case)
            if self.unkept:
                item.session.shouldfail = clean(self.unkept)
        if report.when == "setup" and report.passed:
            report.user_properties = []  # the reports that follow have them
        xfail = self.config.wrong == "xfail"
        finish_report(report, call, xfail=xfail, hide=self.secrets.hide)
        if not isinstance(case, Case):
            return
        if not decides(item) and case in self._decided:
            return  # an author's further test of a sample that test_sample judges
        setattr(report, SAMPLE, True)
        if case.scored or report.when == "teardown" or self.config.stage == "infer":
            return
        detail = outcome_detail(case, call, report)
        if detail is not None:
            detail.error = detail.error and self.secrets.hide(detail.error)
            self.keep(case, None, detail)

    def over(self, item: pytest.Item) -> None:
        """Let go of a sample's properties, which its reports have: pytest keeps all items."""
        if case_of(item) is not None:
            item.user_properties.clear()

    def keep(self, case: Case, model: str | None, detail: Detail) -> None:
        """Keep a verdict, or the error that there was instead of one."""
        case.scored = True
        name = model or case.model or self.sources.first
        assert self.details is not None
        try:
            self.details.put(name, case.dataset, detail)
        except StorageError as error:
            self.unkept = error

    # --- at the end

    def stop(self) -> None:
        """Ask nothing more, from now on; may be called from any thread."""
        self.sources.stop()
        self.verdicts.stop()

    def close(self) -> None:
        """Stop the engines, close the models, bring the journals to the disk.

        ``unkept`` says whether that could not be done.
        """
        try:
            for part in (self.sources, self.verdicts, self.store, self.details):
                try:
                    if part is not None:
                        part.close()
                except StorageError as error:
                    self.unkept = error
        finally:
            if self._joined:
                self._joined.close()
            if self._log:
                close_log(self._log)
                self._log = None

    def ready(self) -> int:
        """Return how many predictions the engines have."""
        counts = self.counts()
        return counts["asked"] + counts["reused"]

    def counts(self) -> Counter[str]:
        """Return how many predictions and judgements were asked, reused or stale."""
        total = self.sources.counts()
        total.update(self.verdicts.counts())
        return total


class _WorkerHooks:
    """In a worker, what the Controller does elsewhere: tells wrong answers apart, stops at once."""

    def __init__(self, stop: Callable[[], None], signals: Signals) -> None:
        self._stop = stop
        self._signals = signals

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self) -> None:
        self._signals.forget()

    @pytest.hookimpl(tryfirst=True)
    def pytest_keyboard_interrupt(self) -> None:
        self._stop()  # pytest takes its time to describe where that was

    def pytest_report_teststatus(self, report: pytest.TestReport) -> Any:
        return status_of(report)
