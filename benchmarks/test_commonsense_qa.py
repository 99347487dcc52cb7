"""CommonsenseQA: questions about everyday concepts, one of five choices.

Paper     Talmor et al. 2019, "CommonsenseQA: A Question Answering Challenge Targeting
          Commonsense Knowledge", https://arxiv.org/abs/1811.00937
Licence   MIT
Data      hub tau/commonsense_qa: validation 1,221 (the labels of test are hidden), train 9,741
          (for shots)
Prompt    that of lm-evaluation-harness, no shots: "Question: ...", lettered choices, "Answer:"
Metric    accuracy: of the letter in the reply (gen), of the likeliest letter (ppl, ll)
Score     none known under exactly this setting; people 88.9 (the paper)
Differs   some copies have four of the choices, lettered anew, and all in one column query: they
          are read too, and easier
"""

from __future__ import annotations

from typing import Any

from pytest_evalplug import BenchmarkMeta, MultiChoiceAdapter, Sample, Tags, register_benchmark


@register_benchmark(
    BenchmarkMeta(
        name="commonsense_qa",
        pretty_name="CommonsenseQA",
        description="Everyday concepts: where things are, what they are for, what people want.",
        description_zh="关于日常概念的常识选择题。",
        tags=[Tags.COMMONSENSE, Tags.MULTIPLE_CHOICE],
        paper_url="https://arxiv.org/abs/1811.00937",
        license="MIT",
        dataset_id="tau/commonsense_qa",
        eval_split="validation",
        train_split="train",
        prompt_template="Question: {question}\n{choices}\nAnswer:",
        generation=dict(max_tokens=256, temperature=0.0, stop=["\nQuestion:"]),
    )
)
class TestCommonsenseQA(MultiChoiceAdapter):
    """One item a question."""

    def record_to_sample(self, record: dict[str, Any]) -> Sample:
        """Read a row of the hub, or of a copy with query, choices and gold."""
        if "query" in record:
            question, _, *lines, _ = record["query"].split("\n")
            return Sample(
                input=question.removeprefix("Question: "),
                choices=[line.partition(". ")[2] for line in lines],
                target=record["choices"][record["gold"]],
            )
        return Sample(
            input=record["question"].strip(),
            choices=record["choices"]["text"],
            target=record["answerKey"],
            id=record.get("id"),
        )
