"""The vocabulary of a benchmark: what an author may override, with the defaults."""

from __future__ import annotations

__all__ = ["AdapterOptions", "DataAdapter"]

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from pytest_evalplug.dataset.meta import BenchmarkMeta
from pytest_evalplug.dataset.templates import fill
from pytest_evalplug.errors import ConfigError
from pytest_evalplug.types import (
    AggScore,
    ChatMessage,
    ModelOutput,
    Prompt,
    Report,
    Sample,
    SampleScore,
    Score,
    TaskState,
)

if TYPE_CHECKING:
    from pytest_evalplug.evaluation.judge.judge import Judge
    from pytest_evalplug.evaluation.scoring import Scorer

EvalMode: TypeAlias = Literal["gen", "ppl", "ll"]

DEFAULT_FEW_SHOT_PROMPT = "{fewshot}\n\n{prompt}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterOptions:
    """What a run decides about a benchmark; the rest stands in its BenchmarkMeta."""

    data_dirs: tuple[Path, ...] = ()
    subsets: tuple[str, ...] = ()
    """``--subset``: ``name`` or ``benchmark/name``; empty selects all."""
    limit: int | float | None = None
    """Samples per subset, after ``sample_filter``: a count, or a fraction (float up to 1)."""
    eval_mode: EvalMode = "gen"
    where: str = ""
    """The benchmark's module, for errors."""


class DataAdapter(ABC):
    """A benchmark's own part: what its records mean and how its answers are judged.

    Every field of the BenchmarkMeta is an attribute of the instance, and the attribute is what
    counts: ``__init__(self, **kwargs)`` may call ``super().__init__(**kwargs)`` and then set
    ``self.reformat_subset = True``.
    """

    __evalplug_meta__: ClassVar[BenchmarkMeta]

    name: str
    dataset_id: str
    revision: str | None
    data_name: str
    pretty_name: str
    tags: Sequence[str]
    subset_list: Sequence[str]
    reformat_subset: bool
    eval_split: str
    train_split: str | None
    few_shot_num: int
    few_shot_random: bool
    few_shot_prompt_template: str | None
    prompt_header: str
    prompt_template: str | None
    system_prompt: str | None
    choice_prompt_template: str | None
    choice_template: str
    metric_list: Sequence[Any]
    eval_cfg: Mapping[str, Any]
    generation: Mapping[str, Any]
    shuffle: bool
    shuffle_choices: bool
    seed: int
    repeats: int
    k: Sequence[int]
    threshold: float | None
    reference_free: bool

    def __init__(
        self,
        *,
        benchmark_meta: BenchmarkMeta | None = None,
        options: AdapterOptions | None = None,
        **kwargs: Any,
    ) -> None:
        if kwargs:
            raise TypeError(f"{type(self).__name__}: unknown arguments {', '.join(kwargs)}")
        meta = benchmark_meta or getattr(type(self), "__evalplug_meta__", None)
        if meta is None:
            raise ConfigError(
                f"{type(self).__name__} has no metadata",
                where=options.where if options else "",
                fix="Decorate it with @register_benchmark(BenchmarkMeta(...)).",
            )
        self.meta: BenchmarkMeta = meta
        self.options = options or AdapterOptions()
        for field in fields(meta):
            setattr(self, field.name, getattr(meta, field.name))

    # --- from a record to a prompt

    @abstractmethod
    def record_to_sample(self, record: dict[str, Any]) -> Sample | list[Sample]:
        """Return what a record asks: one Sample, or several."""

    def sample_filter(self, sample: Sample) -> bool:
        """Say whether a Sample is kept; all are by default."""
        return True

    def sample_to_fewshot(self, sample: Sample) -> str:
        """Return a Sample as a worked example: its prompt, a space and its answer."""
        return f"{self.format_prompt_template(sample).rstrip()} {answer_text(sample)}"

    def format_prompt_template(self, sample: Sample) -> str:
        """Fill ``prompt_template``, or ``default_prompt`` if there is none."""
        return fill(self.prompt_template or self.default_prompt, **self.template_values(sample))

    @property
    def default_prompt(self) -> str:
        """The prompt template of a benchmark that gives none: the Sample's text alone."""
        return "{question}"

    def format_fewshot_template(self, fewshot: str, sample: Sample) -> str:
        """Fill ``few_shot_prompt_template``; the shots above the prompt if there is none."""
        template = self.few_shot_prompt_template or DEFAULT_FEW_SHOT_PROMPT
        prompt = self.format_prompt_template(sample)
        return fill(template, fewshot=fewshot, prompt=prompt, **self.template_values(sample))

    def template_values(self, sample: Sample) -> dict[str, str]:
        """Return the text of each placeholder but ``fewshot`` and ``prompt``."""
        return {"question": question_text(sample)}

    # --- from a prompt to a prediction

    def run_inference(
        self, model: Any, sample: Sample, output_dir: str = "", **kwargs: Any
    ) -> TaskState:
        """Ask the model about one Sample, through the three hooks below."""
        self._on_inference_start(model, sample)
        output = self._on_inference(model, sample)
        return self._on_inference_end(model, sample, output, output_dir)

    def _on_inference_start(self, model: Any, sample: Sample) -> None:
        """Do what is due before a Sample is asked: nothing, by default."""
        return None

    def _on_inference(self, model: Any, sample: Sample) -> Any:
        """Ask the model; ``sample.input`` is the finished prompt. May be a coroutine function."""
        return model.generate(sample.input)

    def _on_inference_end(
        self, model: Any, sample: Sample, model_output: ModelOutput, output_dir: str
    ) -> TaskState:
        """Return the state that is scored, once the reply is there."""
        return TaskState(
            model=str(getattr(model, "name", model)),
            sample=sample,
            messages=as_messages(sample.input),
            output=model_output,
            sample_id=None if sample.id is None else str(sample.id),
            group_id=sample.index,
            metadata=sample.metadata,
        )

    @property
    def has_subsets(self) -> bool:
        """Whether there are several subsets, each a dataset of its own in files and tables."""
        return len(self.subset_list) > 1

    # --- from a prediction to a score

    @property
    def scorer(self) -> Scorer:
        """What scores this benchmark by its ``eval_cfg``."""
        if self._scorer is None:
            from pytest_evalplug.evaluation.scoring import Scorer

            self._scorer = Scorer(self)
        return self._scorer

    _scorer: Scorer | None = None
    judge: Judge | None = None
    """The run's judge model (``--judge-model``), if it has one."""

    def calculate_metrics(self, task_state: TaskState) -> SampleScore:
        """Score one state: filter the prediction, match it with the reference."""
        return self.scorer.calculate_metrics(task_state)

    def filter_prediction(self, prediction: str, task_state: TaskState) -> Any:
        """Return the pred: the prediction after postprocessing."""
        return self.scorer.filter_prediction(prediction, task_state)

    def extract_answer(self, prediction: str, task_state: TaskState) -> Any:
        """Return the answer that a prediction gives: all of it by default."""
        return prediction

    def match_score(
        self,
        original_prediction: str,
        filtered_prediction: Any,
        reference: Any,
        task_state: TaskState,
    ) -> Score:
        """Compare pred and reference; overridden, this replaces the Evaluator."""
        return self.scorer.match_score(
            original_prediction, filtered_prediction, reference, task_state
        )

    def llm_match_score(
        self,
        original_prediction: str,
        filtered_prediction: Any,
        reference: Any,
        task_state: TaskState,
    ) -> Score:
        """Let the judge model compare pred and reference; overridden, this replaces the Evaluator.

        An override asks ``self.judge.generate(prompt)``; it is called ahead, for many samples.
        """
        return self.scorer.llm_match_score(
            original_prediction, filtered_prediction, reference, task_state
        )

    def aggregate_scores(self, sample_scores: list[SampleScore]) -> list[AggScore]:
        """Return the metrics over the Samples of a subset: means, by default."""
        return self.scorer.aggregate_scores(sample_scores)

    # --- from scores to a report

    def generate_report(
        self,
        scores: Sequence[AggScore],
        model_name: str,
        output_dir: str = "",
        **kwargs: Any,
    ) -> Report:
        """Return the report of one model on this benchmark, through the two hooks below."""
        report = self._on_generate_report(scores, model_name)
        self._on_generate_report_end(report, output_dir)
        return report

    def _on_generate_report(self, scores: Sequence[AggScore], model_name: str) -> Report:
        """Build the report."""
        return Report(benchmark=self.name, model=model_name, scores=scores)

    def _on_generate_report_end(self, report: Report, output_dir: str) -> None:
        """Do what is due with the finished report: nothing, by default."""
        return None

    # --- the pytest side

    def overrides(self, method: str) -> bool:
        """Say whether the benchmark's class overrides a method of the adapters shipped here."""
        return _overrides(type(self), method)

    def source_of(self, method: str) -> str:
        """Return the source of an overridden method or property.

        ``""`` if it isn't overridden or not to be had.
        """
        if not self.overrides(method):
            return ""
        found = getattr(type(self), method)
        try:
            return inspect.getsource(getattr(found, "fget", found))  # a property's getter
        except (OSError, TypeError):
            return ""


@lru_cache(maxsize=4096)
def _overrides(adapter: type[DataAdapter], method: str) -> bool:
    owner = next((cls for cls in adapter.__mro__ if method in vars(cls)), DataAdapter)
    return not owner.__module__.startswith("pytest_evalplug.dataset.")


def question_text(sample: Sample) -> str:
    """Return the text that ``{question}`` stands for: in a conversation, the last user message's.

    ``""`` where that message has no plain text.
    """
    if isinstance(sample.input, str):
        return sample.input
    row = last_user_message(sample.input)
    content = None if row is None else sample.input[row]["content"]
    return content if isinstance(content, str) else ""


def last_user_message(messages: Sequence[ChatMessage]) -> int | None:
    """Return the position of the last message from the user, None if there is none."""
    return next((i for i in reversed(range(len(messages))) if messages[i]["role"] == "user"), None)


def answer_text(sample: Sample) -> str:
    """Return the reference as text; of several accepted ones, the first."""
    target = sample.target
    if isinstance(target, (list, tuple)):
        target = target[0] if target else ""
    return str(target)


def as_messages(prompt: Prompt) -> list[ChatMessage]:
    """Return a prompt as a conversation."""
    return [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
