"""One process's part of a run: what it collected, its engines, its journals."""

from __future__ import annotations

__all__ = ["EvalSession", "Evaluation", "saved_models"]

import json
import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_evalplug.collection import Benchmark, case_of
from pytest_evalplug.errors import ConfigError, ModelError, VerdictError, WrongAnswer
from pytest_evalplug.evaluation.ahead import ScoringAhead
from pytest_evalplug.evaluation.scoring import Scorer
from pytest_evalplug.inference.case import Case
from pytest_evalplug.inference.engine import Engine
from pytest_evalplug.inference.facade import ModelFacade
from pytest_evalplug.inference.inferencers import INFERENCERS, missing_method
from pytest_evalplug.inference.records import Record, task_state
from pytest_evalplug.inference.saved import SavedPredictions, info_of
from pytest_evalplug.logs import close_log, open_log
from pytest_evalplug.model.base import ModelBackend
from pytest_evalplug.model.spec import ModelInfo
from pytest_evalplug.options import RunConfig
from pytest_evalplug.planning import Role, decides, manifest_of, plan_of
from pytest_evalplug.report.outcome import finish_report
from pytest_evalplug.report.text import clean, wrong_answer_text
from pytest_evalplug.run.details import DetailStore
from pytest_evalplug.run.directory import RunDirectory, safe_name
from pytest_evalplug.run.jsonio import dumps, write_atomic
from pytest_evalplug.run.predictions import PredictionStore
from pytest_evalplug.stash import MANIFEST, SAMPLE
from pytest_evalplug.types import Detail
from pytest_evalplug.wire import Manifest

if TYPE_CHECKING:
    from pytest_evalplug.evaluation.judge.judge import Judge

Source = Engine | SavedPredictions


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What the ``evaluation`` fixture gives a test: one sample's prediction and verdict."""

    case: Case
    model: str
    record: Record
    detail: Detail | None
    """``None`` in ``--mode infer``, where nothing is scored."""

    @property
    def pred(self) -> Any:
        """The prediction after postprocessing."""
        return self.detail.pred if self.detail else None

    @property
    def reference(self) -> Any:
        """The reference after its own postprocessing."""
        return self.detail.answer if self.detail else None

    @property
    def correct(self) -> bool | None:
        """The verdict; ``None`` where the metric has none."""
        return self.detail.correct if self.detail else None

    @property
    def score(self) -> dict[str, float]:
        """The metrics of this sample, 0-1."""
        return self.detail.score if self.detail else {}

    def check(self) -> None:
        """Raise WrongAnswer if the Evaluator calls the answer wrong."""
        __tracebackhide__ = True
        if self.correct is False:
            raise WrongAnswer(wrong_answer_text(self))


class EvalSession:
    """Owns everything that lives as long as the process's test session."""

    def __init__(self, config: RunConfig, role: Role, run_path: Path | None) -> None:
        self.config = config
        self.role = role
        self.benchmarks: dict[str, Benchmark] = {}
        self.manifest = Manifest()
        self.tick: Callable[[], None] | None = None
        """Called while an item waits, for progress."""
        self._run_path = run_path
        self._run: RunDirectory | None = None
        self._plan: list[Case] = []
        self._sources: dict[str, Source] = {}
        self._infos: dict[str, ModelInfo] = {}
        self._backends: dict[str, ModelBackend] = {}
        self._store: PredictionStore | None = None
        self._details: DetailStore | None = None
        self._left = Counter[Case]()
        """How many items of each planned case are not over."""
        self._scored: set[Case] = set()
        self._decided: set[Case] = set()
        self._scorers: dict[tuple[str, str], Scorer] = {}
        self._past = Counter[str]()
        """The counts of engines that are closed, and of samples whose judge gave no verdict."""
        self._log: logging.Handler | None = None
        self._ahead: ScoringAhead[Case] = ScoringAhead(self._score)
        self._judge: Judge | None = None
        self._to_score: set[Case] = set()
        """Cases of which an item asks for a score."""

    # --- before the first item

    def start(
        self, items: Sequence[pytest.Item], open_run: Callable[[], RunDirectory] | None
    ) -> None:
        """Take note of what will run, in this order, and open the run directory for it."""
        self.manifest = manifest_of(self.benchmarks, items)
        self._decided = {c for i in items if decides(i) and isinstance(c := case_of(i), Case)}
        if not self.manifest.parts:
            return
        self._plan = plan_of(items, self.role)
        asking = (item for item in items if "evaluation" in getattr(item, "fixturenames", ()))
        self._to_score = {c for i in asking if isinstance(c := case_of(i), Case)}
        self._left = Counter(self._plan)
        if open_run is not None:
            self.open(open_run())
            return
        assert self._run_path is not None
        run = RunDirectory.attach(self._run_path)
        self.open(run)
        self.manifest.write(run.journal / MANIFEST)

    def open(self, run: RunDirectory) -> None:
        """Begin to write into the run directory."""
        self._run = run
        self._store = PredictionStore(run, self.role.worker)
        self._details = DetailStore(run, self.role.worker)
        self._give_judge()
        self._log = open_log(run.infer_logs / f"{self.role.worker}.log")

    @property
    def run(self) -> RunDirectory:
        """The run directory."""
        assert self._run is not None
        return self._run

    @property
    def store(self) -> PredictionStore:
        """Saved predictions."""
        assert self._store is not None
        return self._store

    @property
    def details(self) -> DetailStore:
        """Saved verdicts."""
        assert self._details is not None
        return self._details

    # --- while items run

    def predict(self, case: Case, request: pytest.FixtureRequest) -> tuple[str, Record]:
        """Return the model's name and the prediction record. Raises ModelError."""
        source = self._source(case, request)
        try:
            return source.model.name, source.result(case, self.tick)
        except ModelError:
            if isinstance(source, Engine) and source.fatal:
                request.session.shouldfail = clean(source.fatal)
            raise

    def evaluate(self, case: Case, model: str, record: Record) -> Evaluation:
        """Score one prediction, once, and keep the verdict."""
        if self.config.stage == "infer":
            return Evaluation(case, model, record, None)
        try:
            if self._scorer(case.adapter.meta.name, model).waits:
                detail = self._ahead.take(case, model, record, self.tick)
            else:
                detail = self._score(case, model, record)
        except VerdictError:
            self._past["unjudged"] += 1
            raise
        self.keep(case, model, detail)
        return Evaluation(case, model, record, detail)

    def _score(self, case: Case, model: str, record: Record) -> Detail:
        scorer = self._scorer(case.adapter.meta.name, model)
        return scorer.detail(task_state(case, model, record), record)

    def _arrived(self, case: Case, model: str, record: Record) -> None:
        """Begin to score a prediction, if that takes waiting; called from an engine's thread."""
        if case in self._to_score and self._scorer(case.adapter.meta.name, model).waits:
            self._ahead.begin(case, model, record)

    def _give_judge(self) -> None:
        """Let the adapters have the run's judge."""
        if self.config.judge is None or self.config.stage == "infer":
            return
        from pytest_evalplug.evaluation.judge.judge import judge_from
        from pytest_evalplug.run.predictions import JudgementStore

        store = JudgementStore(self.run, self.role.worker)
        self._judge = judge_from(self.config.judge, store, self.role.count)
        for benchmark in self.benchmarks.values():
            benchmark.adapter.judge = self._judge

    def _scorer(self, benchmark: str, model: str) -> Scorer:
        key = (benchmark, model)
        if key not in self._scorers:
            postprocessor = self._infos[model].pred_postprocessor
            self._scorers[key] = self.benchmarks[benchmark].scorer_for(postprocessor)
        return self._scorers[key]

    def reported(
        self, item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport
    ) -> None:
        """Finish a report of a sample's item, and keep its outcome if nothing was scored."""
        case = case_of(item)
        if case is None:
            return
        if isinstance(case, Case) and report.when == "teardown":
            self.forget(case)
        finish_report(report, call, xfail=self.config.wrong == "xfail")
        if not isinstance(case, Case):
            return
        if not decides(item) and case in self._decided:
            return  # an author's further test of a sample that test_sample judges
        setattr(report, SAMPLE, True)
        if case in self._scored or report.when == "teardown" or self.config.stage == "infer":
            return
        detail = _detail_of(case, call, report)
        if detail is not None:
            self.keep(case, None, detail)

    def keep(self, case: Case, model: str | None, detail: Detail) -> None:
        """Keep a verdict, or the error that there was instead of one."""
        self._scored.add(case)
        name = model or case.model or self._only_model()
        self.details.put(name, case.dataset, detail)

    def forget(self, case: Case) -> None:
        """Let go of what the engine holds for a case of which an item is over."""
        self._left[case] -= 1
        for source in self._sources.values():
            source.forget(case)

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
        self._infos[info.name] = info
        source = SavedPredictions(INFERENCERS[self.config.eval_mode], self.store, info)
        waiting = [
            case
            for case in self._plan
            if case in self._to_score
            and case.model in (None, info.name)
            and self._scorer(case.adapter.meta.name, info.name).waits
        ]
        if waiting:
            self._ahead.follow(info.name, waiting, source.result)
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
        self._infos[info.name] = info
        engine = Engine(
            backend,
            inferencer,
            self.store,
            model=info,
            share=self.role.count,
            output_dir=self.run.path,
            arrived=lambda case, record: self._arrived(case, info.name, record),
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

    def close(self) -> None:
        """Stop the engines, close the models, bring the journals to the disk."""
        self._ahead.close()
        for source in self._sources.values():
            source.close()
        if self._judge is not None:
            self._judge.close()
        for backend in self._backends.values():
            _close(backend)
        self._backends.clear()
        if self._store and self._details:
            self._store.close()
            self._details.close()
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
        if self._judge is not None:
            total.update({"judged": self._judge.asked, "judgements reused": self._judge.reused})
        for source in self._sources.values():
            total.update(_counts(source))
        return total


def saved_models(run: RunDirectory) -> dict[str, ModelInfo]:
    """Return the models that a run has predictions of."""
    infos = {}
    for path in sorted((run.configs / "models").glob("*.json")):
        info = ModelInfo(**json.loads(path.read_text(encoding="utf-8")))
        infos[info.name] = info
    return infos


def _counts(source: Source) -> dict[str, int]:
    """Return a source's counts, copied at once: the engine's thread goes on counting."""
    return dict(source.counts) if isinstance(source, Engine) else {}


def _close(backend: ModelBackend) -> None:
    close = getattr(backend, "close", None)
    if close is not None:
        close()


def _detail_of(case: Case, call: pytest.CallInfo[None], report: pytest.TestReport) -> Detail | None:
    """Return what a report says of a sample that no Evaluator has scored.

    That is an error or a skip in set-up, or the outcome of an author's own test function.
    """
    detail = Detail(index=case.index, sample_id=case.item_id, subset=case.subset)
    reason = str(call.excinfo.value) if call.excinfo else ""
    if report.skipped:
        detail.metadata = {"skipped": reason or "skipped"}
    elif report.when == "call" and (report.passed or _ended_with(call, AssertionError)):
        detail.correct = report.passed
        detail.score = {"accuracy": float(report.passed)}
    elif report.failed:
        detail.error = reason
    else:
        return None
    return detail


def _ended_with(call: pytest.CallInfo[None], kind: type[BaseException]) -> bool:
    """Tell whether the call ended with an exception of this kind."""
    return call.excinfo is not None and isinstance(call.excinfo.value, kind)
