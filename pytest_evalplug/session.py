"""One process's part of a run: what it collected, its engines, its journals."""

from __future__ import annotations

__all__ = ["EvalSession", "saved_models"]

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_evalplug.collection import Benchmark, case_of
from pytest_evalplug.errors import (
    ConfigError,
    DataError,
    EvalplugError,
    StorageError,
    WrongAnswer,
)
from pytest_evalplug.inference.budget import Limits
from pytest_evalplug.inference.case import Case
from pytest_evalplug.inference.engine import Engine
from pytest_evalplug.inference.facade import ModelFacade
from pytest_evalplug.inference.inferencers import INFERENCERS, missing_method
from pytest_evalplug.inference.records import Record
from pytest_evalplug.inference.saved import SavedPredictions, info_of
from pytest_evalplug.logs import close_log, open_log
from pytest_evalplug.masking import Secrets
from pytest_evalplug.model.base import ModelBackend
from pytest_evalplug.model.spec import ModelInfo
from pytest_evalplug.options import RunConfig
from pytest_evalplug.planning import Role, decides, manifest_of, plan_of, skipped
from pytest_evalplug.report.outcome import finish_report, hide_secrets, status_of
from pytest_evalplug.report.text import clean
from pytest_evalplug.run.details import DetailStore
from pytest_evalplug.run.directory import RunDirectory, safe_name
from pytest_evalplug.run.jsonio import dumps, write_atomic
from pytest_evalplug.run.predictions import PredictionStore
from pytest_evalplug.run.snapshot import read_object
from pytest_evalplug.stash import MANIFEST, SAMPLE
from pytest_evalplug.stopping import Signals, follow_controller
from pytest_evalplug.types import Detail
from pytest_evalplug.verdicts import Evaluation, Verdicts, outcome_detail
from pytest_evalplug.wire import Manifest

Source = Engine | SavedPredictions


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
        self._run: RunDirectory | None = None
        self._joined: RunDirectory | None = None
        """The same in a worker, which holds a lock of its own on it."""
        self._limits: Limits | None = None
        self._plan: list[Case] = []
        self._sources: dict[str, Source] = {}
        self._backends: dict[str, ModelBackend] = {}
        self.store: PredictionStore | None = None
        """Saved predictions, once the run directory is open."""
        self.details: DetailStore | None = None
        """Saved verdicts, likewise."""
        self._left = Counter[Case]()
        """How many items of each planned case are not over."""
        self._scored: set[Case] = set()
        self._decided: set[Case] = set()
        """Cases that ``test_sample`` judges, where others test them too."""
        self._past = Counter[str]()
        """The counts of engines that are closed."""
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
        self._plan = plan_of(items, self.role)
        if self.config.stage != "infer":
            self.verdicts.expect(items)
        self._left = Counter(self._plan)
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
        self._run = run
        self.store = PredictionStore(run, self.role.worker)
        self.details = DetailStore(run, self.role.worker)
        self._limits = Limits(run.path / "limits", self.config.max_tokens, self.config.max_cost)
        self.verdicts.open(run, self.role.worker, self.role.count, self.config.judge, self._limits)
        self._log = open_log(run.infer_logs / f"{self.role.worker}.log", self.secrets.hide)

    @property
    def run(self) -> RunDirectory:
        """The run directory."""
        assert self._run is not None
        return self._run

    # --- while items run

    def predict(self, case: Case, request: pytest.FixtureRequest) -> tuple[str, Record]:
        """Return the model's name and the prediction record. Raises ModelError, StorageError."""
        source: Source | None = None
        try:
            source = self._source(case, request)
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
        hide_secrets(report, self.secrets.hide)
        case = case_of(item)
        if case is None:
            return
        if isinstance(case, Case) and report.when == "teardown":
            if not skipped(item):
                self.forget(case)
            if self.unkept:
                item.session.shouldfail = clean(self.unkept)
        if report.when == "setup" and report.passed:
            report.user_properties = []  # the reports that follow have them
        finish_report(report, call, xfail=self.config.wrong == "xfail")
        if not isinstance(case, Case):
            return
        if not decides(item) and case in self._decided:
            return  # an author's further test of a sample that test_sample judges
        setattr(report, SAMPLE, True)
        if case in self._scored or report.when == "teardown" or self.config.stage == "infer":
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
        self._scored.add(case)
        name = model or case.model or self._only_model()
        assert self.details is not None
        try:
            self.details.put(name, case.dataset, detail)
        except StorageError as error:
            self.unkept = error

    def forget(self, case: Case) -> None:
        """Let go of what the engine holds for a case of which an item is over."""
        self._left[case] -= 1
        for source in self._sources.values():
            source.forget(case)
        if self._left[case] <= 0:
            self.verdicts.forget(case)

    def backend(self, name: str) -> ModelBackend:
        """Load the model ``name``, or return it; others that have nothing left to do are closed.

        Raises EvalplugError if it can't be loaded.
        """
        if name not in self._backends:
            spec = next(spec for spec in self.config.models if spec.name == name)
            self._release()
            self._backends[name] = spec.create()
        return self._backends[name]

    def _release(self) -> None:
        """Close models whose items are all over, so that two need not fit in memory at once."""
        for name in list(self._backends):
            if any(case.model == name and items > 0 for case, items in self._left.items()):
                continue
            source = self._sources.pop(name, None)
            if source is not None:
                source.close()
                self._past.update(_counts(source))
            _close(self._backends.pop(name))

    def model(self, case: Case, request: pytest.FixtureRequest) -> ModelFacade | ModelBackend:
        """Return the model that a case is for; the backend itself if no engine works with it.

        Raises EvalplugError if it can't be had.
        """
        source = self._source(case, request)
        if isinstance(source, Engine):
            return source.facade(case)
        return self._given(source.model.name, request)

    def _only_model(self) -> str:
        return next(iter(self._sources), "model")

    def _source(self, case: Case, request: pytest.FixtureRequest) -> Source:
        if case.model in self._sources:
            return self._sources[case.model]
        if case.model is None and self._sources:
            return next(iter(self._sources.values()))
        if self.config.stage == "eval":
            source: Source = self._saved(case.model)
        else:
            source = self._engine(case, request)
        self._sources[source.model.name] = source
        return source

    def _saved(self, name: str | None) -> SavedPredictions:
        saved = saved_models(self.run)
        infos = {spec.name: info_of(spec, saved) for spec in self.config.models} or saved
        info = infos.get(name or next(iter(infos), ""))
        if info is None:
            raise ConfigError(
                f"the run {self.run.path} has no predictions",
                where="--mode eval",
                fix="Run it without --mode eval first, or name another run with --reuse",
            )
        self.verdicts.know(info)
        assert self.store is not None
        source = SavedPredictions(INFERENCERS[self.config.eval_mode], self.store, info)
        own = [case for case in self._plan if case.model in (None, info.name)]
        self.verdicts.follow(info.name, own, source.result)
        return source

    def _engine(self, case: Case, request: pytest.FixtureRequest) -> Engine:
        backend = self._given(case.model, request)
        info = self._info(backend)
        inferencer = INFERENCERS[self.config.eval_mode]
        if missing_method(backend, inferencer):
            raise ConfigError(
                f"backend {info.name!r} gives no token probabilities "
                f"(capabilities: {', '.join(sorted(backend.capabilities))})",
                where=f"--eval-mode={inferencer.mode}",
                fix="Use --eval-mode=gen, or a backend such as hf that has 'loglikelihood'",
            )
        folder = self.run.configs / "models"
        write_atomic(folder / f"{safe_name(info.name)}.json", dumps(info.to_wire()))
        self.verdicts.know(info)
        assert self.store is not None
        assert self._limits is not None
        engine = Engine(
            backend,
            inferencer,
            self.store,
            model=info,
            share=self.role.count,
            account=self._limits.account(info.name, backend, info.price),
            timeout=self.config.sample_timeout,
            output_dir=self.run.path,
            arrived=lambda case, record: self.verdicts.arrived(case, info.name, record),
            hide=self.secrets.hide,
        )
        engine.plan([c for c in self._plan if c.model in (None, info.name)])
        return engine

    def _given(self, name: str | None, request: pytest.FixtureRequest) -> ModelBackend:
        """Return what the fixture gives; our own, with several models, leaves the choice to us."""
        given: ModelBackend | EvalSession = request.getfixturevalue("model_backend")
        return self.backend(name or "") if isinstance(given, EvalSession) else given

    def _info(self, backend: ModelBackend) -> ModelInfo:
        for spec in self.config.models:
            if self._backends.get(spec.name) is backend:
                return spec.info
        if len(self.config.models) > 1:
            raise ConfigError(
                "a model_backend fixture replaces all models, but several are named",
                where="--model",
                fix="Name one model, or remove the fixture",
            )
        name = str(backend.name)
        fingerprint = str(getattr(backend, "fingerprint", name))
        if self.config.models:  # the fixture stands for it
            return replace(self.config.models[0].info, fingerprint=fingerprint)
        return ModelInfo(name, fingerprint)

    # --- at the end

    def stop(self) -> None:
        """Ask nothing more, from now on; may be called from any thread."""
        for source in list(self._sources.values()):
            if isinstance(source, Engine):
                source.stop()
        self.verdicts.stop()

    def close(self) -> None:
        """Stop the engines, close the models, bring the journals to the disk.

        ``unkept`` says whether that could not be done.
        """
        for source in self._sources.values():
            source.close()
        self.verdicts.close()
        for backend in self._backends.values():
            _close(backend)
        self._backends.clear()
        try:
            if self.store and self.details:
                self.store.close()
                self.details.close()
        except StorageError as error:
            self.unkept = error
        if self._joined:
            self._joined.close()
        self._plan.clear()
        self._left.clear()
        if self._log:
            close_log(self._log)
            self._log = None

    def ready(self) -> int:
        """Return how many predictions the engines have."""
        counts = self.counts()
        return counts["asked"] + counts["reused"]

    def counts(self) -> Counter[str]:
        """Return how many predictions and judgements were asked, reused or stale."""
        total = self._past.copy()
        total.update(self.verdicts.counts())
        for source in self._sources.values():
            total.update(_counts(source))
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


def saved_models(run: RunDirectory) -> dict[str, ModelInfo]:
    """Return the models that a run has predictions of. Raises DataError if that is damaged."""
    infos = {}
    fix = "Run it once more with --reuse and without --mode eval, which writes it anew"
    for path in sorted((run.configs / "models").glob("*.json")):
        try:
            info = ModelInfo.from_wire(read_object(path, fix=fix))
        except TypeError as error:
            raise DataError(f"damaged: {error}", where=str(path), fix=fix) from None
        infos[info.name] = info
    return infos


def _counts(source: Source) -> dict[str, int]:
    """Return a source's counts, copied at once: the engine's thread goes on counting."""
    if not isinstance(source, Engine):
        return {}
    return {**source.counts, **source.used.counts(source.model.name)}


def _close(backend: ModelBackend) -> None:
    close = getattr(backend, "close", None)
    if close is not None:
        close()
