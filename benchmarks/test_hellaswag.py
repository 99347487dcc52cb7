"""HellaSwag: which of four endings goes on from a scene.

Paper     Zellers et al. 2019, "HellaSwag: Can a Machine Really Finish Your Sentence?",
          https://arxiv.org/abs/1905.07830
Licence   MIT
Data      hub Rowan/hellaswag: validation 10,042 (the labels of test are hidden), train 39,905
          (for shots). Not tested on the real data here
Prompt    ppl, ll: that of lm-evaluation-harness, no shots: the activity, a colon, the context
          and each ending, without WikiHow's marks in brackets; gen: ours, lettered endings
Metric    accuracy; in ll also normalised by the ending's bytes, which is the number to compare
Score     BLOOM 7B1, ll: 46.2, normalised 59.7 (EleutherAI/lm-evaluation-harness,
          results/bloom); GPT-J 6B, ll, normalised: 66.1 (README of
          kingoflolz/mesh-transformer-jax)
Differs   the harness normalises by characters
"""

from __future__ import annotations

import re
from typing import Any

from pytest_evalplug import BenchmarkMeta, MultiChoiceAdapter, Sample, Tags, register_benchmark

MARK = re.compile(r"\[.*?\]")


@register_benchmark(
    BenchmarkMeta(
        name="hellaswag",
        pretty_name="HellaSwag",
        description="How scenes from videos and WikiHow articles go on.",
        description_zh="选出视频描述或 WikiHow 文章最合理的下文。",
        tags=[Tags.COMMONSENSE, Tags.MULTIPLE_CHOICE],
        paper_url="https://arxiv.org/abs/1905.07830",
        license="MIT",
        dataset_id="Rowan/hellaswag",
        eval_split="validation",
        train_split="train",
        prompt_template=(
            "Scene: {question}\n{choices}\n"
            "Answer with the letter of the ending that goes on best.\nAnswer:"
        ),
        choice_prompt_template="{question}",
        choice_template=" {choice}",
        generation=dict(max_tokens=256, temperature=0.0, stop=["\nScene:"]),
    )
)
class TestHellaSwag(MultiChoiceAdapter):
    """One item a scene."""

    def record_to_sample(self, record: dict[str, Any]) -> Sample:
        """Return the scene; ``label`` counts the endings from 0, and is empty where hidden."""
        context = f"{record['ctx_a']} {record['ctx_b'].capitalize()}"
        return Sample(
            input=plain(f"{record['activity_label']}: {context}"),
            choices=[plain(ending) for ending in record["endings"]],
            target="ABCD"[int(record["label"])] if record["label"] != "" else "",
        )


def plain(text: str) -> str:
    """Return a text without WikiHow's marks, such as ``[header]``; a title ends a sentence."""
    return MARK.sub("", text.strip().replace(" [title]", ". ")).replace("  ", " ")
