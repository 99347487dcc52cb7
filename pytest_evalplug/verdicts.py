"""From a prediction to its verdict, in one process: now, or ahead of its item."""

from __future__ import annotations

__all__ = ["Evaluation", "Verdicts", "outcome_detail"]

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_evalplug.collection import Benchmark, case_of
from pytest_evalplug.errors import VerdictError, WrongAnswer
from pytest_evalplug.evaluation.ahead import ScoringAhead
from pytest_evalplug.evaluation.scoring import Scorer
from pytest_evalplug.inference.case import Case
from pytest_evalplug.inference.records import Record, task_state
from pytest_evalplug.model.spec import ModelInfo, ModelSpec
from pytest_evalplug.report.text import wrong_answer_text
from pytest_evalplug.run.directory import RunDirectory, safe_name
from pytest_evalplug.run.jsonio import dumps, write_atomic
from pytest_evalplug.types import Detail

if TYPE_CHECKING:
    from pytest_evalplug.evaluation.judge.judge import Judge
    from pytest_evalplug.inference.budget import Limits
    from pytest_evalplug.run.predictions import JudgementStore


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
            raise _ShortWrongAnswer(wrong_answer_text(self))


class _ShortWrongAnswer(WrongAnswer, pytest.fail.Exception):  # type: ignore[misc, name-defined]
    """A wrong answer of which pytest reports the text alone.

    For a traceback it would parse the source of every frame's module, 12 ms for each answer.
    """

    def __init__(self, text: str) -> None:
        pytest.fail.Exception.__init__(self, text, pytrace=False)


class Verdicts:
    """Scores predictions; those whose scoring waits for a judge or a sandbox, ahead."""

    def __init__(self, benchmarks: dict[str, Benchmark], timeout: float | None = None) -> None:
        self._benchmarks = benchmarks
        self._timeout = timeout
        """How long scoring a sample may take, in seconds."""
        self._ahead: ScoringAhead[Case] = ScoringAhead(self._score, timeout)
        self._judges: dict[tuple[str, str], Judge] = {}
        self._unjudged: set[Case] = set()
        """Samples on which a judge gave no verdict."""
        self._run: tuple[JudgementStore, int, Limits] | None = None
        self._prices = Path()
        self._scorers: dict[tuple[str, str], Scorer] = {}
        self._models: dict[str, ModelInfo] = {}
        self._expected: set[Case] = set()
        """Cases of which an item asks for a score; empty where no scoring waits."""

    def expect(self, items: Sequence[pytest.Item]) -> None:
        """Take note of which samples will be scored; an item that is marked ``skip`` is not run."""
        if not any(b.error is None and b.scorer.waits for b in self._benchmarks.values()):
            return
        asking = (
            item
            for item in items
            if "evaluation" in getattr(item, "fixturenames", ())
            and item.get_closest_marker("skip") is None
        )
        self._expected = {c for item in asking if isinstance(c := case_of(item), Case)}

    def open(
        self,
        run: RunDirectory,
        worker: str,
        share: int,
        spec: ModelSpec | None,
        limits: Limits,
    ) -> None:
        """Keep what judges reply in the run, and let the benchmarks have its judge, if any.

        This process is one of ``share`` that ask; ``limits`` are the run's.
        """
        from pytest_evalplug.run.predictions import JudgementStore

        self._run = (JudgementStore(run, worker), share, limits)
        self._prices = run.configs / "judges"
        if spec is None:
            return
        from pytest_evalplug.evaluation.judge.judge import judge_from

        judge = self._shared(judge_from(spec))
        self._ahead.threads = max(
            self._ahead.threads, int(getattr(spec.options, "concurrency", 1)) // share
        )
        for benchmark in self._benchmarks.values():
            benchmark.adapter.judge = judge

    def _shared(self, judge: Judge) -> Judge:
        """Return the run's one judge of this kind, which keeps its replies in the run."""
        key = (judge.name, judge.fingerprint)
        if key not in self._judges and self._run is not None:
            judge.store, judge.share, judge.limits = self._run
            self._judges[key] = judge
            if judge.price is not None:
                file = self._prices / f"{safe_name(judge.name)}.json"
                write_atomic(file, dumps({"price": judge.price}))
        return self._judges.get(key, judge)

    def know(self, model: ModelInfo) -> None:
        """Take note of a model whose predictions will be scored."""
        self._models[model.name] = model

    def arrived(self, case: Case, model: str, record: Record) -> None:
        """Begin to score a prediction if that takes waiting; may be called from any thread."""
        if self._waits(case, model):
            self._ahead.begin(case, model, record)

    def follow(self, model: str, cases: Iterable[Case], read: Callable[[Case], Record]) -> None:
        """Begin to score saved predictions ahead, in this order, where that takes waiting."""
        waiting = [case for case in cases if self._waits(case, model)]
        if waiting:
            self._ahead.follow(model, waiting, read)

    def detail(
        self, case: Case, model: str, record: Record, tick: Callable[[], None] | None
    ) -> Detail:
        """Return a prediction's verdict, waiting for it. Raises what scoring raises."""
        if self._timeout is None and not self._scorer(case, model).waits:
            return self._score(case, model, record)
        try:
            return self._ahead.take(case, model, record, tick)
        except VerdictError:
            self._unjudged.add(case)
            raise

    def forget(self, case: Case) -> None:
        """Drop what is held for a sample whose last item is over."""
        self._ahead.forget(case)

    def counts(self) -> Counter[str]:
        """Return how many questions judges were asked, had been asked before, left open."""
        counts = Counter({"unjudged": len(self._unjudged)})
        for judge in self._judges.values():
            counts.update({"judged": judge.asked, "judgements reused": judge.reused})
            counts.update(judge.used.counts(f"judge {judge.name}"))
        return counts

    def stop(self) -> None:
        """Ask judges nothing more, from now on; may be called from any thread."""
        for judge in list(self._judges.values()):
            judge.stop()

    def close(self) -> None:
        """Begin nothing more, and let go of the judges."""
        self._ahead.close()
        for judge in self._judges.values():
            judge.close()

    def _waits(self, case: Case, model: str) -> bool:
        return case in self._expected and self._scorer(case, model).waits

    def _score(self, case: Case, model: str, record: Record) -> Detail:
        return self._scorer(case, model).detail(task_state(case, model, record), record)

    def _scorer(self, case: Case, model: str) -> Scorer:
        key = (case.adapter.meta.name, model)
        if key not in self._scorers:
            postprocessor = self._models[model].pred_postprocessor
            benchmark = self._benchmarks[key[0]]
            self._scorers[key] = scorer = benchmark.scorer_for(postprocessor)
            for evaluator in (*scorer.config.evaluators, *benchmark.scorer.config.evaluators):
                evaluator.share_judges(self._shared)
        return self._scorers[key]


def outcome_detail(
    case: Case, call: pytest.CallInfo[None], report: pytest.TestReport
) -> Detail | None:
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
