"""ARC: science questions from school exams, most with four choices.

Paper     Clark et al. 2018, "Think you have Solved Question Answering? Try ARC, the AI2
          Reasoning Challenge", https://arxiv.org/abs/1803.05457
Licence   CC BY-SA 4.0
Data      hub allenai/ai2_arc, subsets ARC-Easy (test 2,376, train 2,251 for shots) and
          ARC-Challenge (test 1,172, train 1,119)
Prompt    ppl, ll: that of lm-evaluation-harness, no shots: "Question: ... Answer:" and each
          choice's text; gen: ours, lettered choices, the letter is asked for
Metric    accuracy; in ll also normalised by the choice's bytes
Score     BLOOM 7B1, ll: easy 64.9, normalised 57.3; challenge 30.4 and 33.5
          (EleutherAI/lm-evaluation-harness, results/bloom). Pythia 12B, ll with 5 shots: easy
          71.0 and 71.7; challenge 36.5 and 39.0 (EleutherAI/pythia, evals)
Differs   the harness normalises by characters; choices labelled 1 to 5 in the original are
          lettered like the others; columns query, choices, gold, which some copies have, are
          read too
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pytest_evalplug import BenchmarkMeta, MultiChoiceAdapter, Sample, Tags, register_benchmark

LETTERS = "ABCDE"

EASY = BenchmarkMeta(
    name="arc_easy",
    pretty_name="ARC easy",
    description="Science questions for grades 3 to 9.",
    description_zh="三至九年级的科学选择题。",
    tags=[Tags.KNOWLEDGE, Tags.REASONING, Tags.MULTIPLE_CHOICE],
    paper_url="https://arxiv.org/abs/1803.05457",
    license="CC-BY-SA-4.0",
    dataset_id="allenai/ai2_arc",
    revision="210d026faf9955653af8916fad021475a3f00453",
    subset_list=["ARC-Easy"],
    train_split="train",
    prompt_template=(
        "Question: {question}\n{choices}\nAnswer with the letter of the right choice.\nAnswer:"
    ),
    choice_prompt_template="Question: {question}\nAnswer:",
    choice_template=" {choice}",
    generation=dict(max_tokens=256, temperature=0.0, stop=["\nQuestion:"]),
)


class Questions(MultiChoiceAdapter):
    """What both benchmarks share."""

    def record_to_sample(self, record: dict[str, Any]) -> Sample:
        """Read a row of the hub, or of a copy with query, choices and gold."""
        if "query" in record:
            return Sample(
                input=record["query"].removeprefix("Question: "),
                choices=record["choices"],
                target=LETTERS[record["gold"]],
            )
        choices = record["choices"]
        return Sample(
            input=record["question"],
            choices=choices["text"],
            target=LETTERS[choices["label"].index(record["answerKey"])],
            id=record.get("id"),
        )


@register_benchmark(EASY)
class TestARCEasy(Questions):
    """What a word-overlap or retrieval system could answer."""


@register_benchmark(
    replace(EASY, name="arc_challenge", pretty_name="ARC challenge", subset_list=["ARC-Challenge"])
)
class TestARCChallenge(Questions):
    """What such systems got wrong."""
