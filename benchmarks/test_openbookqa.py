"""OpenBookQA: elementary science, facts to be combined with common knowledge.

Paper     Mihaylov et al. 2018, "Can a Suit of Armor Conduct Electricity? A New Dataset for Open
          Book Question Answering", https://arxiv.org/abs/1809.02789
Licence   Apache-2.0
Data      hub allenai/openbookqa, subset main: test 500, train 4,957 (for shots)
Prompt    ppl, ll: that of lm-evaluation-harness, no shots: the question and each choice goes on
          from it; gen: ours, lettered choices
Metric    accuracy; in ll also normalised by the choice's bytes
Score     BLOOM 7B1, ll: 25.2, normalised 35.8 (EleutherAI/lm-evaluation-harness, results/bloom)
Differs   the book's facts are not shown; the harness normalises by characters; columns query,
          choices, gold, which some copies have, are read too
"""

from __future__ import annotations

from typing import Any

from pytest_evalplug import BenchmarkMeta, MultiChoiceAdapter, Sample, Tags, register_benchmark

LETTERS = "ABCD"


@register_benchmark(
    BenchmarkMeta(
        name="openbookqa",
        pretty_name="OpenBookQA",
        description="Elementary science questions that take a fact and common knowledge.",
        description_zh="需要把事实与常识结合起来的小学科学题。",
        tags=[Tags.KNOWLEDGE, Tags.REASONING, Tags.MULTIPLE_CHOICE],
        paper_url="https://arxiv.org/abs/1809.02789",
        license="Apache-2.0",
        dataset_id="allenai/openbookqa",
        subset_list=["main"],
        train_split="train",
        prompt_template=(
            "Question: {question}\n{choices}\nAnswer with the letter of the right choice.\nAnswer:"
        ),
        choice_prompt_template="{question}",
        choice_template=" {choice}",
        generation=dict(max_tokens=256, temperature=0.0, stop=["\nQuestion:"]),
    )
)
class TestOpenBookQA(MultiChoiceAdapter):
    """One item a question."""

    def record_to_sample(self, record: dict[str, Any]) -> Sample:
        """Read a row of the hub, or of a copy with query, choices and gold."""
        choices = record["choices"]
        if "query" in record:
            return Sample(input=record["query"], choices=choices, target=LETTERS[record["gold"]])
        return Sample(
            input=record["question_stem"],
            choices=choices["text"],
            target=LETTERS[choices["label"].index(record["answerKey"].strip())],
            id=record.get("id"),
        )
