"""The adapter that most benchmarks subclass: from Samples to prompts and likelihood queries."""

from __future__ import annotations

__all__ = ["AdapterOptions", "DataAdapter", "DefaultDataAdapter"]

import copy
from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar

from pytest_evalplug.dataset.base import (
    DEFAULT_FEW_SHOT_PROMPT,
    AdapterOptions,
    DataAdapter,
    EvalMode,
    last_user_message,
)
from pytest_evalplug.dataset.fewshot import ShotPool
from pytest_evalplug.dataset.letters import letters
from pytest_evalplug.dataset.samples import SampleAdapter
from pytest_evalplug.dataset.seeding import rng
from pytest_evalplug.dataset.table import Origin
from pytest_evalplug.dataset.templates import fill, placeholders
from pytest_evalplug.errors import ConfigError, DataError, NotApplicable
from pytest_evalplug.types import ChatMessage, LoglikelihoodQuery, Prompt, Sample

Self = TypeVar("Self", bound="DefaultDataAdapter")

_PROMPT_FIELDS = (
    *("eval_split", "train_split", "few_shot_num", "few_shot_random", "few_shot_prompt_template"),
    *("prompt_header", "system_prompt", "shuffle_choices", "seed"),
)
_PROMPT_METHODS = (
    *("load", "load_from_disk", "load_subset", "load_fewshot_subset"),
    *("record_to_sample", "sample_filter", "finish_sample", "few_shots", "sample_to_fewshot"),
    *("default_prompt", "default_choice_prompt", "format_prompt_template"),
    *("format_fewshot_template", "template_values", "format_choices", "process_sample_input"),
    "continuations",
)


class DefaultDataAdapter(SampleAdapter):
    """A benchmark that reads a table and asks one question per Sample."""

    modes: ClassVar[Sequence[EvalMode]] = ("gen", "ppl", "ll")
    """The evaluation modes in which it means something; it is skipped in the others."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._pools: dict[str, ShotPool] = {}
        self._shot_texts: dict[tuple[int, str | None, int], str] = {}
        self._checked: dict[str, list[Sample]] = {}
        """Subset -> its Samples, once the shots are known to be there too."""

    def test_sample(self, evaluation: Any) -> None:
        """Evaluate one Sample: the test that the plugin parametrizes."""
        evaluation.check()

    def samples(self, subset: str) -> list[Sample]:
        """Return a subset's Samples: filtered, shuffled, limited, each with ``id`` and ``index``.

        Raises DataError if the data (or that of the shots) is missing, malformed, empty or
        without references.
        """
        if subset not in self._checked:
            samples = super().samples(subset)
            self._check_shots(subset)
            self._checked[subset] = samples
        return self._checked[subset]

    def check_mode(self, subset: str) -> None:
        """Raise NotApplicable if a model can't be asked about the subset in the run's mode.

        In ``ppl`` and ``ll`` mode it needs Samples with :meth:`continuations`.
        """
        mode = self.options.eval_mode
        if mode not in self.modes:
            raise NotApplicable(
                f"is not for {mode} mode", fix=f"Run it with --eval-mode={self.modes[-1]}"
            )
        if mode != "gen" and not any(map(self.continuations, self.samples(subset))):
            raise NotApplicable(f"has no choices to compare in {mode} mode")

    # --- prompts

    def build_prompt(self, sample: Sample, subset: str, num_shots: int | None = None) -> Prompt:
        """Return what a model is asked in ``gen`` mode, with fewer shots if told so."""
        view = self if num_shots is None else self._with_shots(num_shots)
        return view.process_sample_input(sample, subset)

    def build_query(
        self, sample: Sample, subset: str, num_shots: int | None = None
    ) -> LoglikelihoodQuery:
        """Return the context and what may follow it, for ``ppl`` and ``ll`` mode.

        Raises NotApplicable for a Sample without continuations.
        """
        continuations = self.continuations(sample)
        if not continuations:
            raise NotApplicable(
                f"{self.name} asks for a free answer", fix="Run it with --eval-mode=gen."
            )
        view = self._with_shots(num_shots)
        view.prompt_template = self._choice_prompt
        context = view.process_sample_input(sample, subset)
        return LoglikelihoodQuery(context, tuple(continuations))

    def continuations(self, sample: Sample) -> list[str]:
        """Return the texts whose likelihoods are compared: one a choice, by ``choice_template``.

        An override that returns a single text has it measured, with nothing to compare.
        """
        return [
            fill(self.choice_template, letter=letter, choice=choice)
            for letter, choice in zip(letters(sample), sample.choices or (), strict=True)
        ]

    def process_sample_input(self, sample: Sample, subset: str) -> Prompt:
        """Return the finished prompt: header, shots, question; before them a system prompt.

        In a conversation the last user message is the question that the template is put around.
        """
        if self.few_shot_num:
            shots = "\n\n".join(self.few_shots(sample, subset))
            text = self.format_fewshot_template(shots, sample)
        else:
            text = self.format_prompt_template(sample)
        if self.prompt_header:
            text = fill(self.prompt_header, **self.template_values(sample)) + text
        return self._as_prompt(sample.input, text)

    def few_shots(self, sample: Sample, subset: str) -> list[str]:
        """Return the texts of the shots for a Sample, at most ``self.few_shot_num``.

        Override it for shots that are no Samples; ``[]`` if the template itself holds them.
        """
        if not self._has_pool:
            return []
        draw = None
        if self.few_shot_random:
            draw = rng(self.seed, self.name, subset, "shots", sample.index)
        shots = self._pool(subset).pick(sample, self.few_shot_num, draw)
        return [self._shot_text(shot) for shot in shots]

    def _shot_text(self, shot: Sample) -> str:
        """Return a shot as text: written once, for it stands in most prompts of its subset."""
        written = (id(shot), self.prompt_template, self.few_shot_num)  # what a view may change
        if written not in self._shot_texts:
            self._shot_texts[written] = self.sample_to_fewshot(shot)
        return self._shot_texts[written]

    def prompt_config(self, subset: str) -> dict[str, Any]:
        """Return all that decides the prompts of a subset, as plain JSON types.

        The table's version is a hash of it. Where the data lies has no part in it.
        """
        mode = self.options.eval_mode
        config: dict[str, Any] = {name: getattr(self, name) for name in _PROMPT_FIELDS}
        if mode == "gen":
            config["prompt_template"] = self.prompt_template or self.default_prompt
            config["generation"] = dict(self.generation)
        else:
            config["prompt_template"] = self._choice_prompt
            config["choice_template"] = self.choice_template
        built_by = "build_prompt" if mode == "gen" else "build_query"
        sources = {name: self.source_of(name) for name in (*_PROMPT_METHODS, built_by)}
        config["methods"] = {name: source for name, source in sources.items() if source}
        return {"benchmark": self.name, "subset": subset, "eval_mode": mode, **config}

    @property
    def default_choice_prompt(self) -> str:
        """The context template of a benchmark that gives none, for ``ppl`` and ``ll`` mode."""
        return self.default_prompt

    # --- the steps

    @property
    def _choice_prompt(self) -> str:
        return self.choice_prompt_template or self.prompt_template or self.default_choice_prompt

    def _with_shots(self: Self, num_shots: int | None) -> Self:
        """Return a view of this adapter with another number of shots; caches are shared."""
        view = copy.copy(self)
        if num_shots is not None:
            view.few_shot_num = min(num_shots, self.few_shot_num)
        return view

    def _as_prompt(self, asked: Prompt, text: str) -> Prompt:
        if isinstance(asked, str):
            if self.system_prompt is None:
                return text
            asked = [{"role": "user", "content": text}]
        messages = [*asked]
        position = last_user_message(messages)
        if position is not None and isinstance(messages[position]["content"], str):
            messages[position] = {**messages[position], "content": text}
        if self.system_prompt is not None and messages[0]["role"] != "system":
            system: ChatMessage = {"role": "system", "content": self.system_prompt}
            messages.insert(0, system)
        return messages

    @property
    def _has_pool(self) -> bool:
        return self.train_split is not None or self.overrides("load_fewshot_subset")

    def _pool(self, subset: str) -> ShotPool:
        if subset not in self._pools:
            loaded = [s for s in self.load_fewshot_subset(subset) if self.sample_filter(s)]
            for row, sample in enumerate(loaded):
                sample.index = sample.index or str(row)
            if len(loaded) < self.few_shot_num:
                raise DataError(
                    f"{self.few_shot_num} shots are asked for, but split {self.train_split!r} of"
                    f" subset {subset!r} has {len(loaded)} samples",
                    where=self._where,
                    fix=f"Set few_shot_num={len(loaded)} or use another train_split.",
                )
            origin = Origin(f"{self._where}, split {self.train_split!r}", len(loaded))
            self._pools[subset] = ShotPool(
                [self._finish(s, subset, origin) for s in loaded],
                same_split=self.train_split == self.eval_split,
            )
        return self._pools[subset]

    def _check_shots(self, subset: str) -> None:
        """Say what is wrong with the shots at collection, not once for every sample."""
        if not self.few_shot_num or self.overrides("few_shots"):
            return
        template = self.few_shot_prompt_template or DEFAULT_FEW_SHOT_PROMPT
        if self._has_pool:
            self._pool(subset)
        elif "fewshot" in placeholders(template) and not self.overrides("format_fewshot_template"):
            raise ConfigError(
                f"few_shot_num is {self.few_shot_num}, but there is no train_split",
                where=self._where,
                fix="Name the split that the shots come from, or set few_shot_num=0.",
            )
