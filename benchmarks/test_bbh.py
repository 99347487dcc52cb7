"""BIG-Bench Hard: 27 tasks that need several steps of reasoning.

Paper     Suzgun et al. 2022, "Challenging BIG-Bench Tasks and Whether Chain-of-Thought Can
          Solve Them", https://arxiv.org/abs/2210.09261
Licence   MIT
Data      hub lukaemon/bbh, one subset a task: test 6,511 in all; the header of each task,
          cot_prompt.txt, lies beside its data (<data_dir>/bbh/<task>/, from the repository
          suzgunmirac/BIG-Bench-Hard), as no hub copy has it. datasets 4+ refuses the hub's
          loading script: put the files into the data directory
Prompt    the published header, 3 shots with chain of thought, without its warning line; its
          description of the task stays where there are fewer shots, or none
Metric    gen: accuracy of what follows the last "the answer is ", compared exactly (bbh); of
          the letter or the free answer that a reply in words of its own settles on (bbh_chat)
Score     code-davinci-002, 73.9 as the mean of 23 tasks, those in several sizes counting once
          (the paper, table 2). Its published replies, scored here, give each task's accuracy
Differs   ppl, ll (tasks with an "Options:" list): the likeliest answer where the shots give
          theirs, without reasoning of its own. Three rows whose list is broken are left out
          there, as none of the options is right
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from pytest_evalplug import (
    BenchmarkMeta,
    DefaultDataAdapter,
    Sample,
    Tags,
    TaskState,
    postprocessors,
    register_benchmark,
)

# fmt: off
TASKS = [
    "boolean_expressions", "causal_judgement", "date_understanding", "disambiguation_qa",
    "dyck_languages", "formal_fallacies", "geometric_shapes", "hyperbaton",
    "logical_deduction_five_objects", "logical_deduction_seven_objects",
    "logical_deduction_three_objects", "movie_recommendation", "multistep_arithmetic_two",
    "navigate", "object_counting", "penguins_in_a_table", "reasoning_about_colored_objects",
    "ruin_names", "salient_translation_error_detection", "snarks", "sports_understanding",
    "temporal_sequences", "tracking_shuffled_objects_five_objects",
    "tracking_shuffled_objects_seven_objects", "tracking_shuffled_objects_three_objects",
    "web_of_lies", "word_sorting",
]
FREE = [
    "boolean_expressions", "causal_judgement", "dyck_languages", "formal_fallacies",
    "multistep_arithmetic_two", "navigate", "object_counting", "sports_understanding",
    "web_of_lies", "word_sorting",
]
# fmt: on
"""The tasks that are answered in words or numbers; the other 17 have letters."""
OPTION = re.compile(r"^(?:(\([A-Z]\))|- (.*\S))", re.MULTILINE)


META = BenchmarkMeta(
    name="bbh",
    pretty_name="BIG-Bench Hard",
    description="Logic, counting, dates, tables, word play: 27 tasks.",
    description_zh="逻辑、计数、日期、表格与文字游戏等二十七项推理任务。",
    tags=[Tags.REASONING],
    paper_url="https://arxiv.org/abs/2210.09261",
    license="MIT",
    dataset_id="lukaemon/bbh",
    subset_list=TASKS,
    few_shot_num=3,
    prompt_header="{task}\n\n",
    prompt_template="Q: {question}\nA: Let's think step by step.",
    choice_prompt_template="Q: {question}\nA: Let's think step by step.\nSo the answer is",
    choice_template=" {choice}",
    eval_cfg=dict(pred_postprocessor="bbh-paper", evaluator="accuracy"),
    generation=dict(max_tokens=1024, temperature=0.0, stop=["\nQ:"]),
)


class BigBenchHard(DefaultDataAdapter):
    """What both benchmarks share: one subset a task."""

    def record_to_sample(self, record: dict[str, Any]) -> Sample:
        """Return the question; its choices are the answers as the shots write them."""
        _, listed, options = record["input"].rpartition("Options:\n")
        choices = [a or b for a, b in OPTION.findall(options)] if listed else []
        answerable = record["target"] in choices
        return Sample(
            input=record["input"],
            target=record["target"],
            choices=choices if answerable else None,
        )

    def published(self, subset: str) -> list[str]:
        """Return the parts of the published header: the task's description, and each shot."""
        return header_parts(self.find_file(subset, "cot_prompt.txt"))

    def finish_sample(self, sample: Sample, subset: str) -> Sample:
        """Note the task, which the header describes; raises DataError if the header is missing."""
        self.published(subset)
        return replace(sample, subset_key=subset)

    def template_values(self, sample: Sample) -> dict[str, str]:
        """Add ``{task}``, the task's description."""
        task = self.published(sample.subset_key or "")[0]
        return {**super().template_values(sample), "task": task}

    def load_fewshot_subset(self, subset: str) -> list[Sample]:
        """Return the header's shots as they stand."""
        return [Sample(f"Q: {shot}", "") for shot in self.published(subset)[1:]]

    def sample_to_fewshot(self, sample: Sample) -> str:
        """Return a shot as it stands in the header."""
        return str(sample.input)


@cache
def header_parts(path: Path) -> list[str]:
    """Return what a published header consists of, without its warning."""
    return path.read_text(encoding="utf-8").rpartition("-----\n")[2].split("\n\nQ: ")


@register_benchmark(META)
class TestBBH(BigBenchHard):
    """Judged as published."""


@register_benchmark(
    replace(
        META,
        name="bbh_chat",
        pretty_name="BIG-Bench Hard, answers in own words",
        data_name="bbh",
        eval_cfg=dict(evaluator="accuracy"),
    )
)
class TestBBHChat(BigBenchHard):
    """Judged by the answer, however it is put."""

    def finish_sample(self, sample: Sample, subset: str) -> Sample:
        """Return the Sample with its reference in the form that answers are compared in."""
        sample = super().finish_sample(sample, subset)
        return replace(sample, target=answer_in(sample.target, sample))

    def extract_answer(self, prediction: str, task_state: TaskState) -> str:
        """Return the letter or the free answer of a reply."""
        return answer_in(prediction, task_state.sample)


def answer_in(text: str, sample: Sample) -> str:
    """Return a text's answer to a question; those whose list is broken have a free one too."""
    if sample.choices and sample.subset_key not in FREE:
        options = ascii_uppercase[: len(sample.choices)]
        return str(postprocessors.get("bbh-mcq")(text, options=options))
    return str(postprocessors.get("bbh-freeform")(text))
