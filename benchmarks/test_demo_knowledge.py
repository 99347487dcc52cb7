"""Demo knowledge: general knowledge, one of four choices.

Paper     none: written for this project, to try it out with; no measure of anything else
Licence   Apache-2.0, as this project
Data      data/demo_knowledge beside this file; test 76, train 4 (the shots); each letter is
          right equally often
Prompt    ours: 2 examples; gen: lettered choices, "Answer:" and the letter; ppl, ll: the
          question, "Answer:" and each choice, which even a small model can tell apart
Metric    accuracy: of the letter in the reply (gen), of the likeliest choice (ppl, ll)
Score     none published
Differs   in nothing: this is the original
"""

from __future__ import annotations

from typing import Any

from pytest_evalplug import BenchmarkMeta, MultiChoiceAdapter, Sample, Tags, register_benchmark


@register_benchmark(
    BenchmarkMeta(
        name="demo_knowledge",
        pretty_name="Demo knowledge",
        description="General knowledge from astronomy to everyday life.",
        description_zh="从天文到日常生活的常识题。",
        tags=[Tags.KNOWLEDGE, Tags.MULTIPLE_CHOICE],
        dataset_id="data/demo_knowledge",
        license="Apache-2.0",
        train_split="train",
        few_shot_num=2,
        prompt_template="Question: {question}\n{choices}\nAnswer:",
        choice_prompt_template="Question: {question}\nAnswer:",
        choice_template=" {choice}",
        generation=dict(max_tokens=16, temperature=0.0, stop=["\nQuestion:"]),
    )
)
class TestDemoKnowledge(MultiChoiceAdapter):
    """One item a question."""

    def record_to_sample(self, record: dict[str, Any]) -> Sample:
        """Return the question with its choices."""
        return Sample(
            input=record["question"],
            choices=record["choices"],
            target=record["answer"],
            id=record["id"],
            metadata={"category": record["category"]},
        )
