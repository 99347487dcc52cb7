r"""MBPP: short Python programs from one sentence and three tests.

Paper     Austin et al. 2021, "Program Synthesis with Large Language Models",
          https://arxiv.org/abs/2108.07732
Licence   CC BY 4.0
Data      hub google-research-datasets/mbpp, subset full: test 500 (tasks 11 to 510), prompt 10
          (the shots)
Prompt    the paper's: 3 shots, tasks 2, 3 and 4, with their tests, code between [BEGIN] and [DONE]
Metric    pass@1: the share of programs that pass all three tests, run in the sandbox. pass@k as
          with HumanEval (--eval-set mbpp.repeats=...)
Score     Code Llama 7B 41.4, greedy (Rozière et al. 2023, https://arxiv.org/abs/2308.12950)
Differs   line ends are "\n": the data has "\r\n" in the code. 60 seconds for a test, as one
          solution of the data works for a quarter of that
"""

from __future__ import annotations

from typing import Any

from pytest_evalplug import BenchmarkMeta, DefaultDataAdapter, Sample, Tags, register_benchmark

SHOTS = (2, 3, 4)


@register_benchmark(
    BenchmarkMeta(
        name="mbpp",
        pretty_name="MBPP",
        description="Short Python programs from one sentence and three tests.",
        description_zh="根据一句话描述和三个测试编写简短的 Python 程序。",
        tags=[Tags.CODING],
        paper_url="https://arxiv.org/abs/2108.07732",
        license="CC-BY-4.0",
        dataset_id="google-research-datasets/mbpp",
        subset_list=["full"],
        train_split="prompt",
        few_shot_num=3,
        prompt_template=(
            "You are an expert Python programmer, and here is your task: {question} "
            "Your code should pass these tests:\n\n{tests}\n[BEGIN]\n"
        ),
        eval_cfg=dict(evaluator=dict(type="mbpp", timeout=60.0)),
        generation=dict(max_tokens=512, temperature=0.0, stop=["[DONE]"]),
    )
)
class TestMBPP(DefaultDataAdapter):
    """One item a program."""

    def record_to_sample(self, record: dict[str, Any]) -> Sample:
        """Return the task; the Evaluator reads the tests from the metadata."""
        names = ("task_id", "test_list", "test_setup_code", "challenge_test_list")
        return Sample(
            input=record["text"],
            target="\n".join(record["code"].splitlines()),
            id=str(record["task_id"]),
            metadata={name: record[name] for name in names},
        )

    def load_fewshot_subset(self, subset: str) -> list[Sample]:
        """Return the three tasks that the paper shows."""
        shots = super().load_fewshot_subset(subset)
        return [shot for shot in shots if (shot.metadata or {})["task_id"] in SHOTS]

    def sample_to_fewshot(self, sample: Sample) -> str:
        """Return a task with its program."""
        return f"{self.format_prompt_template(sample)}{sample.target}\n[DONE]"

    def template_values(self, sample: Sample) -> dict[str, str]:
        """Add the tests, a line each."""
        tests = "\n".join((sample.metadata or {})["test_list"])
        return {**super().template_values(sample), "tests": tests}
