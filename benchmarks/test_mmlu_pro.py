"""MMLU-Pro: harder questions than MMLU's, with up to ten choices, to be reasoned about.

Paper     Wang et al. 2024, "MMLU-Pro: A More Robust and Challenging Multi-Task Language
          Understanding Benchmark", https://arxiv.org/abs/2406.01574
Licence   MIT
Data      hub TIGER-Lab/MMLU-Pro, one table, 14 categories: test 12,032, validation 70, five a
          category (the shots). Not tested on the real data here
Prompt    gen: the published one, as lm-evaluation-harness has it: a header that names the
          category, 5 shots with chain of thought, "Answer: Let's think step by step."
Metric    accuracy of the letter that the reply claims
Score     GPT-4o 72.6, Llama-3-70B-Instruct 56.2 over all questions (README of
          TIGER-AI-Lab/MMLU-Pro); the summary's weighted_average is that mean
Differs   a reply without a letter is wrong: the authors' script draws one at random. ppl, ll:
          the likeliest answer where the shots give theirs, without reasoning of its own
"""

from __future__ import annotations

from typing import Any

from pytest_evalplug import BenchmarkMeta, MultiChoiceAdapter, Sample, Tags, register_benchmark

# fmt: off
CATEGORIES = [
    "biology", "business", "chemistry", "computer science", "economics", "engineering", "health",
    "history", "law", "math", "other", "philosophy", "physics", "psychology",
]
# fmt: on
THINK = "Let's think step by step."
QUESTION = f"Question:\n{{question}}\nOptions:\n{{choices}}\nAnswer: {THINK}"


@register_benchmark(
    BenchmarkMeta(
        name="mmlu_pro",
        pretty_name="MMLU-Pro",
        description="Questions from 14 fields with up to ten choices, made to need reasoning.",
        description_zh="十四个领域中最多十个选项且需要推理的难题。",
        tags=[Tags.KNOWLEDGE, Tags.REASONING, Tags.MULTIPLE_CHOICE],
        paper_url="https://arxiv.org/abs/2406.01574",
        license="MIT",
        dataset_id="TIGER-Lab/MMLU-Pro",
        subset_list=CATEGORIES,
        reformat_subset=True,
        train_split="validation",
        few_shot_num=5,
        prompt_header=(
            "The following are multiple choice questions (with answers) about {category}. Think "
            'step by step and then finish your answer with "the answer is (X)" where X is the '
            "correct letter choice.\n"
        ),
        prompt_template=QUESTION,
        choice_prompt_template=f"{QUESTION} The answer is",
        choice_template=" ({letter})",
        generation=dict(max_tokens=2048, temperature=0.0, stop=["Question:"]),
    )
)
class TestMMLUPro(MultiChoiceAdapter):
    """One subset a category."""

    def record_to_sample(self, record: dict[str, Any]) -> Sample:
        """Return the question; fewer than ten choices may be filled up with "N/A"."""
        return Sample(
            input=record["question"],
            choices=[choice.strip() for choice in record["options"] if choice != "N/A"],
            target=record["answer"],
            subset_key=record["category"],
            id=record.get("question_id"),
            metadata={"reasoning": record["cot_content"]},
        )

    def template_values(self, sample: Sample) -> dict[str, str]:
        """Add ``{category}``."""
        return {**super().template_values(sample), "category": sample.subset_key or ""}

    def sample_to_fewshot(self, sample: Sample) -> str:
        """Return a question with its reasoning, at whose end the answer is."""
        _, _, reasoning = (sample.metadata or {})["reasoning"].partition(THINK)
        asked = self.format_prompt_template(sample).partition(f" {THINK}")[0]
        return f"{asked} {THINK}{reasoning}"
