"""PIQA: everyday physics, which of two ways reaches a goal.

Paper     Bisk et al. 2020, "PIQA: Reasoning about Physical Commonsense in Natural Language",
          https://arxiv.org/abs/1911.11641
Licence   AFL-3.0
Data      hub baber/piqa, a copy without a loading script: validation 1,838 (the labels of test
          are hidden), train 16,113 (for shots)
Prompt    ppl, ll: that of lm-evaluation-harness, no shots: "Question: ... Answer:" and each
          way; gen: ours, lettered choices
Metric    accuracy; in ll also normalised by the choice's bytes
Score     BLOOM 7B1, ll: 72.7, normalised 73.7 (EleutherAI/lm-evaluation-harness,
          results/bloom); Pythia 12B, ll with 5 shots: 76.0 and 77.3 (EleutherAI/pythia, evals)
Differs   the harness normalises by characters; columns query, choices, gold, which some copies
          have, are read too
"""

from __future__ import annotations

from typing import Any

from pytest_evalplug import BenchmarkMeta, MultiChoiceAdapter, Sample, Tags, register_benchmark


@register_benchmark(
    BenchmarkMeta(
        name="piqa",
        pretty_name="PIQA",
        description="Which of two ways to reach an everyday goal works.",
        description_zh="判断两种做法中哪一种能达到日常目的。",
        tags=[Tags.COMMONSENSE, Tags.MULTIPLE_CHOICE],
        paper_url="https://arxiv.org/abs/1911.11641",
        license="AFL-3.0",
        dataset_id="baber/piqa",
        eval_split="validation",
        train_split="train",
        prompt_template=(
            "Question: {question}\n{choices}\nAnswer with the letter of the better way.\nAnswer:"
        ),
        choice_prompt_template="Question: {question}\nAnswer:",
        choice_template=" {choice}",
        generation=dict(max_tokens=256, temperature=0.0, stop=["\nQuestion:"]),
    )
)
class TestPIQA(MultiChoiceAdapter):
    """One item a goal."""

    def record_to_sample(self, record: dict[str, Any]) -> Sample:
        """Read a row of the hub, or of a copy with query, choices and gold."""
        if "query" in record:
            goal = record["query"].removeprefix("Question: ").removesuffix("\n")
            return Sample(input=goal, choices=record["choices"], target="AB"[record["gold"]])
        ways = [record["sol1"], record["sol2"]]
        return Sample(input=record["goal"], choices=ways, target="AB"[record["label"]])
