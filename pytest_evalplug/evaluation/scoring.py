"""Scoring one benchmark: from a prediction to a detail, from details to metrics."""

from __future__ import annotations

__all__ = ["Scorer"]

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import isclose
from typing import Any, cast

from pytest_evalplug.dataset.ids import base_index
from pytest_evalplug.dataset.letters import label
from pytest_evalplug.errors import ConfigError, DataError
from pytest_evalplug.evaluation.adapter import Adapter
from pytest_evalplug.evaluation.aggregate import mean_scores, repeat_scores, set_scores
from pytest_evalplug.evaluation.choices import choice_letters
from pytest_evalplug.evaluation.columns import with_derived
from pytest_evalplug.evaluation.config import EvalConfig
from pytest_evalplug.evaluation.outcome import BINARY, scale_of, to_score
from pytest_evalplug.evaluation.postprocessor import apply_steps, resolve_postprocessor
from pytest_evalplug.evaluation.statistics import cluster_of
from pytest_evalplug.run.jsonio import digest
from pytest_evalplug.run.results import dataset_name
from pytest_evalplug.types import AggScore, Detail, Sample, SampleScore, Score, TaskState


class Scorer:
    """Scores one benchmark's predictions.

    :meth:`score`, :meth:`detail` and :meth:`aggregate` are what a run calls. They go through the
    adapter's methods, so that an author's override is used; the adapter's own
    ``calculate_metrics``, ``filter_prediction``, ``match_score`` and ``aggregate_scores`` call
    the methods of the same name here. ``model_postprocessor`` is the model's, applied first.
    """

    def __init__(self, adapter: Adapter, model_postprocessor: Any = None) -> None:
        self.adapter = adapter
        options = getattr(adapter, "options", None)
        self.where = f"{getattr(options, 'where', '') or adapter.name}: eval_cfg"
        self.config = EvalConfig.from_dict(
            adapter.eval_cfg, self.where, metrics=adapter.metric_list
        )
        self._last_reference: tuple[Sample | None, Any] = (None, None)
        """Every sample's is asked for twice, to compare with and to keep."""
        self.model_postprocessor = resolve_postprocessor(
            model_postprocessor, where="the model's pred_postprocessor"
        )

    def check(self) -> None:
        """Raise ConfigError if the ways to score exclude each other, or there is none.

        (A wrong ``eval_cfg`` has raised already, when the Scorer was made.)
        """
        overridden = [m for m in ("match_score", "llm_match_score") if self.adapter.overrides(m)]
        evaluator = self.adapter.eval_cfg.get("evaluator")
        if overridden and evaluator is not None:
            raise ConfigError(
                f"both {overridden[0]}() and the evaluator {_name(evaluator)} score a sample",
                where=self.where,
                fix="Keep one of them.",
            )
        if not (overridden or self.config.evaluators):
            raise ConfigError("nothing scores a sample", where=self.where, fix="Add an evaluator.")

    @cached_property
    def waits(self) -> bool:
        """Whether scoring a sample waits for something, and so is done ahead for many."""
        return self.adapter.overrides("llm_match_score") or any(
            evaluator.waits for evaluator in self.config.evaluators
        )

    @property
    def needs_judge(self) -> bool:
        """Whether an Evaluator asks a judge model and brings none of its own."""
        return any(evaluator.needs_judge for evaluator in self.config.evaluators)

    def score(self, state: TaskState, record: Mapping[str, Any] | None = None) -> SampleScore:
        """Score one prediction in the order of the design's section 3.

        ``record`` is its entry in the prediction file. Raises what a postprocessor, an Evaluator
        or an override raises.
        """
        record = record or {}
        raw = record.get("prediction", state.output.completion)
        steps = () if _chosen(record) else self.model_postprocessor
        output = replace(
            state.output,
            completion=apply_steps(steps, raw),
            extra={**state.output.extra, **record},
        )
        result = self.adapter.calculate_metrics(replace(state, output=output))
        result.score.prediction = raw
        return result

    def detail(self, state: TaskState, record: Mapping[str, Any]) -> Detail:
        """Return one sample's verdict; a record with an ``error`` was not measured."""
        detail = Detail(
            index=str(record["index"]),
            sample_id=str(record.get("sample_id", state.sample_id)),
            subset=record.get("subset", ""),
            answer=self.reference(state.sample, chosen=_chosen(record)),
        )
        if record.get("error") is not None:
            detail.error = str(record["error"])
            return detail
        result = self.score(state, record)
        detail.pred = result.score.extracted_prediction
        detail.score = result.score.value
        detail.correct = self._verdict(result.score)
        detail.metadata = _metadata(
            result, state.sample, self.adapter.overrides("aggregate_scores")
        )
        return detail

    def aggregate(
        self,
        subset: str,
        details: Sequence[Detail],
        records: Sequence[Mapping[str, Any]],
        test_set: Callable[[], Sequence[Mapping[str, Any]]] | None = None,
        repeats: int = 1,
    ) -> list[AggScore]:
        """Return a subset's metrics on their own scales; errors are left out of every mean.

        ``records`` are the prediction records of ``details``, in the same order, and so are the
        rows of ``test_set``, which is called only if an Evaluator asks for it. An AggScore's
        metadata has ``stderr``, ``interval`` and, with errors, ``if_errors_wrong``. With
        ``repeats`` there is also what :func:`repeat_scores` gives. An overridden
        ``aggregate_scores`` has the last word.
        """
        adapter, errors = self.adapter, sum(d.error is not None for d in details)
        if errors == len(details):
            return []
        rows = cast(Any, adapter).row_count(subset) if repeats > 1 else 0
        every = [base_index(d.index, rows) if rows else d.index for d in details]
        groups = [g for g, d in zip(every, details, strict=True) if d.error is None]
        scored = [d for d in details if d.error is None]
        pairs: list[tuple[Detail, Mapping[str, Any]]] = []
        if self._reads_replies:  # else a hundred thousand of them need not be gathered
            pairs = [(d, r) for d, r in zip(details, records, strict=True) if d.error is None]
        if adapter.overrides("aggregate_scores"):
            replies = [record.get("prediction") for _, record in pairs]
            scores = adapter.aggregate_scores(
                [_sample_score(*each) for each in zip(scored, replies, groups, strict=True)]
            )
        else:
            clusters = [cluster_of(g, d.metadata) for g, d in zip(groups, scored, strict=True)]
            scores = mean_scores([d.score for d in scored], clusters, self._scale_for)
            scores = self._with_sets(scores, pairs, details, test_set, groups)
            if repeats > 1:
                of_votes = repeat_scores(details, every, adapter.k or (repeats,), repeats)
                known = {score.metric for score in scores}
                scores += [score for score in of_votes if score.metric not in known]
        for score in scores:
            score.subset = score.subset or subset
            if errors and score.agg_method == "mean" and self._counts_errors(score.metric):
                share = score.num_samples / (score.num_samples + errors)
                score.metadata = {**(score.metadata or {}), "if_errors_wrong": score.value * share}
        return scores

    @property
    def _reads_replies(self) -> bool:
        """Whether something that aggregates sees the replies themselves."""
        sets = any(evaluator.judges_sets for evaluator in self.config.evaluators)
        return sets or self.adapter.overrides("aggregate_scores")

    def _with_sets(
        self,
        scores: list[AggScore],
        pairs: Sequence[tuple[Detail, Mapping[str, Any]]],
        details: Sequence[Detail],
        test_set: Callable[[], Sequence[Mapping[str, Any]]] | None,
        groups: Sequence[str],
    ) -> list[AggScore]:
        """Replace means by what Evaluators say of the whole set, and add their other metrics.

        A mean that comes out the same stays, with its standard error.
        """
        by_metric = {score.metric: score for score in scores}
        for evaluator in self.config.evaluators:
            if evaluator.judges_sets:
                rows = None
                if evaluator.asks_for("test_set") and test_set is not None:
                    rows = [
                        row
                        for row, detail in zip(test_set(), details, strict=True)
                        if detail.error is None
                    ]
                for score in set_scores(evaluator, pairs, groups, rows):
                    mean = by_metric.get(score.metric)
                    if mean is not None and isclose(mean.value, score.value):
                        score.agg_method = mean.agg_method
                        score.metadata = {**(score.metadata or {}), **(mean.metadata or {})} or None
                    by_metric[score.metric] = score
        return list(by_metric.values())

    def reference(self, sample: Sample, *, chosen: bool = False) -> Any:
        """Return the sample's reference as it is compared.

        Where the model chose among likelihoods (``chosen``) that is the right choice's letter;
        else ``dataset_postprocessor`` of the target, or of each of a list of targets. Raises
        DataError if that leaves nothing of a target: any reply without an answer would equal it.
        """
        if chosen:
            return choice_letters(sample)
        last, known = self._last_reference
        if last is sample:
            return known
        reference = self._processed(sample)
        if _is_lost(sample.target, reference):
            names = ", ".join(map(str, self.config.dataset_postprocessor))
            name = sample.index if sample.id is None else sample.id
            raise DataError(
                f"dataset_postprocessor {names} finds no reference in the target of sample {name}",
                where=self.where,
                fix="Check the data, or the postprocessor's options.",
            )
        if isinstance(reference, (str, int, float)):  # an author's code may change a list
            self._last_reference = sample, reference
        return reference

    def _processed(self, sample: Sample) -> Any:
        reference = apply_steps(self.config.dataset_postprocessor, sample.target)
        if getattr(self.adapter, "multiple_correct", False) and isinstance(reference, list):
            return "".join(sorted(reference))
        return reference

    def test_row(self, sample: Sample) -> dict[str, Any]:
        """Return a sample as an Evaluator's ``test_set`` shows it: metadata and fields."""
        return {
            **(sample.metadata or {}),
            "input": sample.input,
            "target": self._processed(sample),
            "choices": sample.choices,
        }

    # What the adapter's methods of the same name do where they aren't overridden:

    def calculate_metrics(self, task_state: TaskState) -> SampleScore:
        """Filter the prediction, match it with the reference."""
        adapter, sample, columns = self.adapter, task_state.sample, task_state.output.extra
        prediction: Any = task_state.output.completion
        chosen = _chosen(columns)
        pred = prediction if chosen else adapter.filter_prediction(prediction, task_state)
        match = adapter.match_score
        if adapter.overrides("llm_match_score") and not adapter.overrides("match_score"):
            match = adapter.llm_match_score
        reference = self.reference(sample, chosen=chosen)
        score = to_score(
            match(prediction, pred, reference, task_state),
            pred,
            metric="accuracy",
            where=self.where,
        )
        if "pred_label_norm" in columns and "accuracy" in score.value:
            label = columns["pred_label_norm"]
            by_bytes = to_score(
                match(label, label, reference, task_state), label, metric="accuracy"
            )
            score.value["accuracy_norm"] = by_bytes.value["accuracy"]
        return SampleScore(score, task_state.sample_id, task_state.group_id, sample.metadata)

    def filter_prediction(self, prediction: Any, task_state: TaskState) -> Any:
        """Extract the answer: ``extract_answer`` if overridden, else ``pred_postprocessor``.

        A list is a list of candidates, done one by one. Postprocessors that take ``options``
        and ``multi`` get this sample's letters, and whether several may be right.
        """
        steps = self.config.pred_postprocessor
        if not steps or self.adapter.overrides("extract_answer"):
            extract = self.adapter.extract_answer
            if isinstance(prediction, list):
                return [extract(candidate, task_state) for candidate in prediction]
            return extract(prediction, task_state)
        choices = task_state.sample.choices
        context: dict[str, Any] = {"multi": getattr(self.adapter, "multiple_correct", False)}
        if choices:
            context["options"] = "".join(map(label, range(len(choices))))
        return apply_steps(steps, prediction, **context)

    def match_score(
        self,
        original_prediction: Any,
        filtered_prediction: Any,
        reference: Any,
        task_state: TaskState,
    ) -> Score:
        """Ask the Evaluators; one that can judge only the whole set has no say here."""
        available = self._available(original_prediction, filtered_prediction, reference, task_state)
        merged = Score({}, filtered_prediction)
        for evaluator in self.config.evaluators:
            score = evaluator.judge(available)
            if score is not None:
                merged.value |= score.value
                merged.extracted_prediction = score.extracted_prediction
                merged.metadata = {**(score.metadata or {}), **(merged.metadata or {})} or None
        return merged

    def llm_match_score(
        self,
        original_prediction: Any,
        filtered_prediction: Any,
        reference: Any,
        task_state: TaskState,
    ) -> Score:
        """Ask the judge model, as :class:`GenericLLMEvaluator` does."""
        from pytest_evalplug.evaluation.evaluators.llm import GenericLLMEvaluator

        available = self._available(original_prediction, filtered_prediction, reference, task_state)
        score = GenericLLMEvaluator().judge(available)
        assert score is not None
        return score

    def _available(
        self, original_prediction: Any, pred: Any, reference: Any, task_state: TaskState
    ) -> dict[str, Any]:
        """Return all that an Evaluator may ask for by name."""
        columns = task_state.output.extra
        return {
            "origin_prompt": None,
            **with_derived({"prediction": original_prediction, **columns}),
            "prediction": pred,
            "reference": reference,
            "original_prediction": original_prediction,
            "sample": task_state.sample,
            "task_state": task_state,
            "judge": self.adapter.judge,
            "dataset": dataset_name(
                self.adapter.name, columns.get("subset", ""), several=self.adapter.has_subsets
            ),
        }

    def aggregate_scores(self, sample_scores: Sequence[SampleScore]) -> list[AggScore]:
        """Return the mean of each metric, scaled."""
        clusters = [cluster_of(s.group_id or s.sample_id, s.sample_metadata) for s in sample_scores]
        return mean_scores([s.score.value for s in sample_scores], clusters, self._scale_for)

    def _scale_for(self, metric: str) -> float:
        scales = (e.scale[metric] for e in self.config.evaluators if metric in e.scale)
        return next(scales, scale_of(metric))

    def _counts_errors(self, metric: str) -> bool:
        """Tell whether 0 is the worst that a metric says of a sample, as of a wrong answer."""
        unranked = any(metric in evaluator.unranked for evaluator in self.config.evaluators)
        return self._scale_for(metric) == 100 and not unranked

    def _verdict(self, score: Score) -> bool | None:
        correct = (score.metadata or {}).get("correct")
        if isinstance(correct, bool):
            return correct
        binary = BINARY.union(*(e.binary for e in self.config.evaluators))
        for metric, value in score.value.items():
            if metric in binary:
                return value == 1
        if self.adapter.threshold is not None and score.value:
            return next(iter(score.value.values())) >= self.adapter.threshold
        return None


def _is_lost(target: Any, reference: Any) -> bool:
    """Tell whether postprocessing left nothing of a target, or of one of a list of targets."""
    if isinstance(target, list) and isinstance(reference, list) and len(target) == len(reference):
        return any(map(_is_lost, target, reference))
    return _is_empty(reference) and not _is_empty(target)


def _is_empty(value: Any) -> bool:
    return value is None or value == [] or (isinstance(value, str) and not value.strip())


def _chosen(record: Mapping[str, Any]) -> bool:
    """Tell whether the prediction is a choice by likelihood, and so no text to read."""
    return "pred_label" in record


def _name(evaluator: Any) -> str:
    kind = evaluator.get("type") if isinstance(evaluator, Mapping) else evaluator
    return str(getattr(kind, "__name__", kind))


def _metadata(result: SampleScore, sample: Sample, with_sample: bool) -> dict[str, Any] | None:
    """Return a Detail's metadata; the sample's own is kept only where something reads it."""
    metadata = {k: v for k, v in (result.score.metadata or {}).items() if k != "correct"}
    if (context := (sample.metadata or {}).get("context_id")) is not None:
        metadata["context_id"] = digest(context)  # it may be the whole passage
    if with_sample and result.sample_metadata:
        metadata["sample"] = result.sample_metadata
    return metadata or None


def _sample_score(detail: Detail, reply: Any, group: str) -> SampleScore:
    metadata = dict(detail.metadata or {})
    sample_metadata = metadata.pop("sample", None)
    # a copy: what an author's code does to one sample's score is not done to all that equal it
    score = Score({**detail.score}, detail.pred, reply, metadata or None)
    return SampleScore(score, detail.sample_id, group, sample_metadata)
