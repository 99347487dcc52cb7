"""BIG-Bench Hard: 27 tasks that need several steps of reasoning.

Paper     Suzgun et al. 2022, "Challenging BIG-Bench Tasks and Whether Chain-of-Thought Can
          Solve Them", https://arxiv.org/abs/2210.09261
Licence   MIT
Data      hub lukaemon/bbh, one subset a task: test 6,511 in all; the header of each task,
          cot_prompt.txt, lies beside its data (<data_dir>/bbh/<task>/, from the repository
          suzgunmirac/BIG-Bench-Hard), as no hub copy has it
Prompt    the published header, 3 shots with chain of thought, without its warning line
Metric    gen: accuracy of what follows the last "the answer is ", compared exactly
Score     code-davinci-002, 73.9 as the mean of 23 tasks, those in several sizes counting once
          (the paper, table 2). Its published replies, scored here, give each task's accuracy
Differs   ppl, ll (tasks with an "Options:" list): the likeliest answer where the shots give
          theirs, without reasoning of its own. Three rows whose list is broken are left out
          there, as none of the options is right
"""

from __future__ import annotations

import re
from typing import Any

from pytest_evalplug import BenchmarkMeta, DefaultDataAdapter, Sample, Tags, register_benchmark

TASKS = [
    "boolean_expressions",
    "causal_judgement",
    "date_understanding",
    "disambiguation_qa",
    "dyck_languages",
    "formal_fallacies",
    "geometric_shapes",
    "hyperbaton",
    "logical_deduction_five_objects",
    "logical_deduction_seven_objects",
    "logical_deduction_three_objects",
    "movie_recommendation",
    "multistep_arithmetic_two",
    "navigate",
    "object_counting",
    "penguins_in_a_table",
    "reasoning_about_colored_objects",
    "ruin_names",
    "salient_translation_error_detection",
    "snarks",
    "sports_understanding",
    "temporal_sequences",
    "tracking_shuffled_objects_five_objects",
    "tracking_shuffled_objects_seven_objects",
    "tracking_shuffled_objects_three_objects",
    "web_of_lies",
    "word_sorting",
]
OPTION = re.compile(r"^(?:(\([A-Z]\))|- (.*\S))", re.MULTILINE)


@register_benchmark(
    BenchmarkMeta(
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
        prompt_template="Q: {question}\nA: Let's think step by step.",
        choice_prompt_template="Q: {question}\nA: Let's think step by step.\nSo the answer is",
        choice_template=" {choice}",
        eval_cfg=dict(pred_postprocessor="bbh-paper", evaluator="accuracy"),
        generation=dict(max_tokens=1024, temperature=0.0, stop=["\nQ:"]),
    )
)
class TestBBH(DefaultDataAdapter):
    """One subset a task."""

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

    def load_fewshot_subset(self, subset: str) -> list[Sample]:
        """Return the header's shots as they stand; the task's description leads the first."""
        text = self.find_file(subset, "cot_prompt.txt").read_text(encoding="utf-8")
        task, *shots = text.rpartition("-----\n")[2].split("\n\nQ: ")
        shots[0] = f"{task}\n\nQ: {shots[0]}"
        return [Sample(input=shots[0], target="")] + [Sample(f"Q: {s}", "") for s in shots[1:]]

    def sample_to_fewshot(self, sample: Sample) -> str:
        """Return a shot as it stands in the header."""
        return str(sample.input)
