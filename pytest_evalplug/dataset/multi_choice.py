"""Multiple choice: lettered options, the right letters, and their shuffling."""

from __future__ import annotations

__all__ = ["MultiChoiceAdapter"]

import re
from dataclasses import replace
from typing import Any, ClassVar

from pytest_evalplug.dataset.adapter import DefaultDataAdapter
from pytest_evalplug.dataset.base import answer_text, question_text
from pytest_evalplug.dataset.letters import letters
from pytest_evalplug.dataset.seeding import rng
from pytest_evalplug.errors import DataError
from pytest_evalplug.types import Sample, TaskState

DEFAULT_PROMPT = """\
{question}

{choices}

Answer with the letter of the right option ({letters}). End with a line of the form "ANSWER: X"."""

DEFAULT_PROMPT_MULTIPLE = """\
{question}

{choices}

One or more options are right. Answer with all their letters (of {letters}). End with a line of \
the form "ANSWER: X, Y"."""


class MultiChoiceAdapter(DefaultDataAdapter):
    """A benchmark whose Samples have ``choices`` and whose ``target`` is a letter.

    A list of letters means that each is accepted; with ``multiple_correct`` all of them together
    are the answer, and ``target`` becomes their sorted letters (``"AD"``). An answer's letter is
    taken from a reply by the postprocessor ``first-option``, unless ``eval_cfg`` or
    ``extract_answer`` says otherwise.
    """

    multiple_correct: ClassVar[bool] = False
    circular: ClassVar[bool] = False
    """Whether each Sample is asked once for every rotation of its choices (CircularEval).

    Version r of Sample ``12`` is ``12.r``, index and id; ``metadata`` has ``qid`` (``12``) and
    ``circular_pattern`` (``BCDA``: the letters that choices A to D now have). ``limit`` counts
    Samples, not versions. The Evaluator ``circular`` scores the versions together.
    """

    def template_values(self, sample: Sample) -> dict[str, str]:
        """Return the texts of ``{question}``, ``{choices}`` (a line each) and ``{letters}``."""
        return {
            "question": question_text(sample),
            "choices": self.format_choices(sample),
            "letters": ", ".join(letters(sample)),
        }

    def format_choices(self, sample: Sample) -> str:
        """Return the lettered options, ``A. ...``, a line each."""
        pairs = zip(letters(sample), sample.choices or (), strict=True)
        return "\n".join(f"{letter}. {choice}" for letter, choice in pairs)

    @property
    def default_prompt(self) -> str:
        """The question, its options, and the order to end with ``ANSWER: X``."""
        return DEFAULT_PROMPT_MULTIPLE if self.multiple_correct else DEFAULT_PROMPT

    @property
    def default_choice_prompt(self) -> str:
        """The question, its options and ``ANSWER:``."""
        return "{question}\n\n{choices}\nANSWER:"

    def sample_to_fewshot(self, sample: Sample) -> str:
        """Return the question as it is asked, and its answer.

        That is the letter, or in ``ppl`` and ``ll`` mode the right choice as it is compared. With
        the default prompt, which asks for a form, it is ``ANSWER: X``.
        """
        answer = answer_text(sample)
        if self.prompt_template is None:
            values = self.template_values(sample)
            return f"{values['question']}\n\n{values['choices']}\nANSWER: {answer}"
        asked, names = self.format_prompt_template(sample), [*letters(sample)]
        if self.options.eval_mode == "gen" or answer not in names:
            return f"{asked} {answer}"
        return asked + self.continuations(sample)[names.index(answer)]

    def extract_answer(self, prediction: str, task_state: TaskState) -> Any:
        """Return the letter (with ``multiple_correct``, the letters) that a reply settles on."""
        from pytest_evalplug.evaluation.registry import postprocessors

        extract = postprocessors.get("first-option")
        options = letters(task_state.sample)
        return extract(prediction, options=options, multi=self.multiple_correct)

    def versions(self, sample: Sample) -> list[Sample]:
        """Return the Sample, or with ``circular`` one for every rotation of its choices."""
        if not (self.circular and sample.choices):
            return [sample]
        names = letters(sample)
        return [
            replace(
                sample,
                index=f"{sample.index}.{r}",
                id=f"{sample.id}.{r}",
                metadata={
                    **(sample.metadata or {}),
                    "qid": sample.index,
                    "circular_pattern": names[r:] + names[:r],
                },
            )
            for r in range(len(names))
        ]

    def finish_sample(self, sample: Sample, subset: str) -> Sample:
        """Return the Sample with its target as letters and its choices in the order to be shown.

        They are shuffled with ``shuffle_choices``, and then rotated by ``circular_pattern``.
        """
        if not sample.choices:
            raise DataError("a multiple-choice sample without choices")
        names, right = letters(sample), self._right_letters(sample)
        order = list(range(len(names)))
        question, pattern = _version(sample) if self.circular else (sample.index, names)
        if self.shuffle_choices:
            rng(self.seed, self.name, subset, "choices", question).shuffle(order)
        order = [order[pattern.index(name)] for name in names]
        choices = [sample.choices[i] for i in order]
        right = [names[order.index(names.index(letter))] for letter in right]
        target: Any = right[0] if len(right) == 1 else sorted(right)
        if self.multiple_correct:
            target = "".join(sorted(right))
        return replace(sample, choices=choices, target=target)

    def _right_letters(self, sample: Sample) -> list[str]:
        target, allowed = sample.target, letters(sample)
        if isinstance(target, str) and self.multiple_correct:
            target = re.findall(r"[^\s,]", target)
        found = target if isinstance(target, (list, tuple)) else [target]
        right = [str(t).strip() for t in found]
        if not right or any(len(t) != 1 or t not in allowed for t in right):
            raise DataError(
                f"target {sample.target!r} is not a letter of {', '.join(allowed)}",
                fix="Map it in record_to_sample (an index n: chr(65 + n)).",
            )
        return list(dict.fromkeys(right))


def _version(sample: Sample) -> tuple[str, str]:
    """Return the question that a rotated Sample asks, and its pattern; a shot is not rotated."""
    metadata = sample.metadata or {}
    return metadata.get("qid", sample.index), metadata.get("circular_pattern", letters(sample))
