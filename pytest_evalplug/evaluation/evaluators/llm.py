"""Evaluators that ask a judge model."""

from __future__ import annotations

__all__ = ["GenericLLMEvaluator", "PairwiseEvaluator", "RubricEvaluator"]

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar

from pytest_evalplug.dataset.templates import placeholders
from pytest_evalplug.errors import ConfigError, DataError, VerdictError
from pytest_evalplug.evaluation.base import BaseEvaluator
from pytest_evalplug.evaluation.judge.judge import Judge, judge_from
from pytest_evalplug.evaluation.judge.prompts import CORRECTNESS, PAIRWISE, RUBRIC, judge_prompt
from pytest_evalplug.evaluation.judge.verdict import read_score, read_verdict
from pytest_evalplug.evaluation.registry import evaluators
from pytest_evalplug.model.spec import check_generation
from pytest_evalplug.types import Sample

T = TypeVar("T")


class JudgeEvaluator(BaseEvaluator):
    """What the Evaluators below share: a judge, and one more try at a verdict.

    The judge is the run's ``--judge-model``, else ``judge_model``: a built-in name or an ad hoc
    form as for ``--model``, a table as in ``[tool.evalplug.models]``, or a backend.
    ``generation`` holds fields of GenerationParams. A reply without a verdict is asked once for
    nothing but that; if there is none again, the sample is an error, never a guess.
    """

    def __init__(
        self,
        judge_model: Any = None,
        *,
        system_prompt: str | None = None,
        generation: Mapping[str, Any] | None = None,
        pred_postprocessor: Any = None,
    ) -> None:
        super().__init__(pred_postprocessor)
        self.own_judge = judge_from(judge_model) if judge_model is not None else None
        self.system_prompt = system_prompt
        self.generation = dict(generation or {})
        check_generation(self.generation, type(self).__name__)

    @property
    def needs_judge(self) -> bool:  # type: ignore[override]
        """Whether it has none of its own."""
        return self.own_judge is None

    def share_judges(self, shared: Callable[[Judge], Judge]) -> None:
        """Use what a run gives for the own judge."""
        if self.own_judge is not None:
            self.own_judge = shared(self.own_judge)

    async def ask(
        self,
        judge: Judge | None,
        dataset: str,
        prompt: str,
        read: Callable[[str], T | None],
        form: str,
        *,
        system_prompt: str | None = None,
    ) -> tuple[T, str]:
        """Return what ``read`` finds in the judge's reply, and the reply.

        ``form`` says what a verdict looks like, should it have to be asked for again;
        ``system_prompt`` is this question's, instead of the Evaluator's. Raises VerdictError if
        there is none, ModelError if there is no reply.
        """
        system_prompt = system_prompt or self.system_prompt
        judge = judge or self.own_judge
        if judge is None:
            raise ConfigError(
                "there is no judge model", where=type(self).__name__, fix="Name one: --judge-model"
            )
        system = [{"role": "system", "content": system_prompt}] if system_prompt else []
        messages: list[Any] = [*system, {"role": "user", "content": prompt}]
        for _ in range(2):
            reply = await judge.ask(
                messages,
                dataset=dataset,
                accept=lambda reply: read(reply) is not None,
                **self.generation,
            )
            verdict = read(reply)
            if verdict is not None:
                return verdict, reply
            messages = [
                *messages,
                {"role": "assistant", "content": reply},
                {"role": "user", "content": f"That holds no verdict. Reply with {form} only."},
            ]
        raise VerdictError(f"no verdict of the judge {judge.name}: {reply[-200:]!r}")


@evaluators.register("llm", "GenericLLMEvaluator")
class GenericLLMEvaluator(JudgeEvaluator):
    """A judge's verdict on each pred, given question and reference.

    ``labels`` are the verdicts the judge may give, each with its score from 0 to 1; of a list
    the first means right, the others wrong. ``prompt_template`` may hold ``{question}``,
    ``{reference}``, ``{prediction}``, ``{choices}``, ``{labels}`` and ``{mark}`` (see
    :data:`~pytest_evalplug.evaluation.judge.prompts.CORRECTNESS`, the default). An empty pred is
    wrong and costs no question. Metric: ``accuracy``, percent (Zheng et al. 2023,
    arXiv:2306.05685, describe such judges and their biases).
    """

    def __init__(
        self,
        judge_model: Any = None,
        *,
        prompt_template: str = CORRECTNESS,
        labels: Sequence[str] | Mapping[str, float] = ("CORRECT", "INCORRECT"),
        **options: Any,
    ) -> None:
        super().__init__(judge_model, **options)
        self.prompt_template = prompt_template
        check_template(prompt_template, "prediction")
        if not isinstance(labels, Mapping):
            labels = {str(label): float(i == 0) for i, label in enumerate(labels)}
        self.labels = {str(label): float(value) for label, value in labels.items()}
        if len({label.casefold() for label in self.labels}) < 2 or not all(
            0 <= value <= 1 for value in self.labels.values()
        ):
            raise ConfigError(
                f"labels are {self.labels}", fix="Give two or more, with scores from 0 to 1"
            )

    async def score_sample(
        self,
        prediction: Any,
        reference: Any,
        sample: Sample | None = None,
        origin_prompt: Any = None,
        judge: Judge | None = None,
        dataset: str = "judge",
    ) -> dict[str, Any]:
        """Ask the judge about one pred."""
        if prediction in (None, "", []):
            return {"accuracy": 0.0, "correct": False, "verdict": ""}
        prompt = judge_prompt(
            self.prompt_template,
            question=sample.input if sample else origin_prompt,
            reference=reference_text(reference, sample),
            prediction=prediction,
            choices=list(sample.choices or []) if sample else [],
            labels=" or ".join(self.labels),
        )
        labels = list(self.labels)
        verdict, reply = await self.ask(
            judge,
            dataset,
            prompt,
            lambda text: read_verdict(text, labels) or None,
            " or ".join(labels),
        )
        value = self.labels[verdict]
        return {"accuracy": value, "correct": value == 1, "verdict": verdict, "judge_reply": reply}


@evaluators.register("rubric", "RubricEvaluator")
class RubricEvaluator(JudgeEvaluator):
    """A judge's rating of each pred by a rubric, from ``low`` to ``high``.

    Metric: ``rating``, the mean on the rubric's own scale. It has no verdict, unless
    ``threshold`` gives the least rating that is right.
    """

    metric = "rating"

    def __init__(
        self,
        rubric: str,
        judge_model: Any = None,
        *,
        low: float = 1,
        high: float = 10,
        threshold: float | None = None,
        prompt_template: str = RUBRIC,
        **options: Any,
    ) -> None:
        super().__init__(judge_model, **options)
        check_template(prompt_template, "prediction")
        if not low < high:
            raise ConfigError(f"the scale runs from {low} to {high}", fix="low must be below high")
        self.rubric, self.low, self.high, self.threshold = rubric, low, high, threshold
        self.prompt_template = prompt_template

    async def score_sample(
        self,
        prediction: Any,
        reference: Any = None,
        sample: Sample | None = None,
        origin_prompt: Any = None,
        judge: Judge | None = None,
        dataset: str = "judge",
    ) -> dict[str, Any]:
        """Ask the judge for one rating; an empty pred gets the lowest."""
        if prediction in (None, "", []):
            return self._rated(self.low, "")
        prompt = judge_prompt(
            self.prompt_template,
            question=sample.input if sample else origin_prompt,
            reference=reference_text(reference, sample),
            prediction=prediction,
            rubric=self.rubric,
            low=f"{self.low:g}",
            high=f"{self.high:g}",
        )
        rating, reply = await self.ask(
            judge,
            dataset,
            prompt,
            lambda text: read_score(text, self.low, self.high),
            f'"Rating: [[number]]", a number from {self.low:g} to {self.high:g},',
        )
        return self._rated(rating, reply)

    def _rated(self, rating: float, reply: str) -> dict[str, Any]:
        verdict = {} if self.threshold is None else {"correct": rating >= self.threshold}
        return {"rating": float(rating), "judge_reply": reply, **verdict}


@evaluators.register("pairwise", "PairwiseEvaluator")
class PairwiseEvaluator(JudgeEvaluator):
    """Whether a judge prefers each prediction to a baseline's, asked in both orders.

    ``baseline`` is a run directory with predictions of the same dataset; ``baseline_model`` names
    the model where it has several. Without a baseline the sample's reference is what the
    prediction is compared with. A reply wins if it is preferred in both orders, or once and
    tied once; a preference that goes with the order is a tie (Zheng et al. 2023,
    arXiv:2306.05685, section 3.4). Metrics, percent: ``win_rate`` (ties count half), ``win``,
    ``tie``, ``loss``, and ``order_bias``, the share in which the order decided. No verdict.
    """

    unranked = frozenset({"win", "tie", "loss", "order_bias"})
    scale: ClassVar[Mapping[str, float]] = MappingProxyType(
        dict.fromkeys(("win_rate", "win", "tie", "loss", "order_bias"), 100.0)
    )

    def __init__(
        self,
        baseline: str | Path | None = None,
        judge_model: Any = None,
        *,
        baseline_model: str | None = None,
        prompt_template: str = PAIRWISE,
        **options: Any,
    ) -> None:
        super().__init__(judge_model, **options)
        check_template(prompt_template, "first", "second")
        self.baseline = None if baseline is None else _Baseline(Path(baseline), baseline_model)
        self.prompt_template = prompt_template

    async def score_sample(
        self,
        original_prediction: Any,
        sample: Sample,
        index: str,
        dataset: str,
        reference: Any = None,
        judge: Judge | None = None,
    ) -> dict[str, Any]:
        """Ask the judge twice about one prediction."""
        values = {"question": sample.input, "reference": reference_text(reference, sample)}
        other = values["reference"]
        if self.baseline is not None:
            other = self.baseline.prediction(dataset, index, sample.index)
        elif other is None:
            raise ConfigError(
                "there is no reply to compare with",
                where=type(self).__name__,
                fix="Give a baseline, or each sample the other reply as its reference",
            )
        points, replies = 0, []
        for own_first in (True, False):
            first, second = (original_prediction, other) if own_first else (
                other, original_prediction
            )  # fmt: skip
            prompt = judge_prompt(self.prompt_template, first=first, second=second, **values)
            verdict, reply = await self.ask(
                judge,
                dataset,
                prompt,
                lambda text: read_verdict(text, ["A", "B", "C"]) or None,
                "[[A]], [[B]] or [[C]]",
            )
            points += {"A": 1, "B": -1, "C": 0}[verdict] * (1 if own_first else -1)
            replies.append((verdict, reply))
        verdicts = "".join(verdict for verdict, _ in replies)
        return {
            "win_rate": (1 + (points > 0) - (points < 0)) / 2,
            "win": float(points > 0),
            "tie": float(points == 0),
            "loss": float(points < 0),
            "order_bias": float(verdicts in ("AA", "BB")),
            "verdicts": verdicts,
            "judge_replies": [reply for _, reply in replies],
        }


class _Baseline:
    """Another run's predictions."""

    def __init__(self, path: Path, model: str | None) -> None:
        from pytest_evalplug.run.directory import RunDirectory, safe_name
        from pytest_evalplug.run.predictions import PredictionStore

        folder = path / "predictions"
        models = sorted(p.name for p in folder.iterdir()) if folder.is_dir() else []
        known = {safe_name(model)} & {*models} if model else models
        if len(known) != 1:
            raise ConfigError(
                f"{path} has predictions of {', '.join(models) or 'no model'}",
                where="baseline",
                fix="Name a run directory, and baseline_model where it has several models",
            )
        self._store = PredictionStore(RunDirectory.attach(path), "baseline")
        (self._model,) = known
        self._where = str(path)

    def prediction(self, dataset: str, *indices: str) -> str:
        """Return the baseline's first prediction of these. Raises DataError if it has none."""
        found = (self._store.get(self._model, dataset, index) for index in indices)
        record = next(filter(None, found), None)
        if record is None:
            raise DataError(
                f"the baseline has no prediction of {dataset} {indices[0]}",
                where=self._where,
                fix="Run the baseline on the same samples",
            )
        return str(record["prediction"])


def check_template(template: str, *needed: str) -> None:
    """Raise ConfigError for a template that would not show a judge what it is to judge."""
    for name in needed:
        if name not in placeholders(template):
            raise ConfigError(
                f"the prompt_template has no {{{name}}}, which is what the judge is to judge",
                fix=f"It has {', '.join(sorted(placeholders(template))) or 'no placeholder'}",
            )


def reference_text(reference: Any, sample: Sample | None) -> Any:
    """Return the reference for a judge: a right choice with its text beside the letter."""
    from pytest_evalplug.dataset.letters import label

    if sample is None or not sample.choices or not isinstance(reference, str):
        return reference
    texts = {label(i): choice for i, choice in enumerate(sample.choices)}
    return f"{reference}: {texts[reference]}" if reference in texts else reference
