"""SQuAD 1.1: questions about a paragraph, answered by a span of it.

Paper     Rajpurkar et al. 2016, "SQuAD: 100,000+ Questions for Machine Comprehension of Text",
          https://arxiv.org/abs/1606.05250
Licence   CC BY-SA 4.0
Data      hub rajpurkar/squad: validation 10,570, with 3 to 5 references each in most rows; train
          87,599 (the shots). Not tested on the real data here
Prompt    title, "Background:", question and "Answer:", of GPT-3's paper (Brown et al. 2020,
          https://arxiv.org/abs/2005.14165) for SQuAD 2; 1 shot, the first of train
Metric    exact match, which is the verdict, and F1, with the best of the references, of the
          reply's first line
Score     none known under exactly this setting; people 82.3 and 91.2 (on the hidden test split;
          Rajpurkar et al. 2016 and the leaderboard)
Differs   decimal points and minus signs count: for the authors' script 1.5 is 15
"""

from __future__ import annotations

from typing import Any

from pytest_evalplug import BenchmarkMeta, DefaultDataAdapter, Sample, Tags, register_benchmark


@register_benchmark(
    BenchmarkMeta(
        name="squad",
        pretty_name="SQuAD 1.1",
        description="Questions about a paragraph of Wikipedia, answered in its words.",
        description_zh="用维基百科段落中的原文回答相关问题。",
        tags=[Tags.READING],
        paper_url="https://arxiv.org/abs/1606.05250",
        license="CC-BY-SA-4.0",
        dataset_id="rajpurkar/squad",
        eval_split="validation",
        train_split="train",
        few_shot_num=1,
        prompt_template=(
            "Title: {title}\n\nBackground: {context}\n\nQuestion: {question}\n\nAnswer:"
        ),
        metric_list=["exact_match", "f1"],
        eval_cfg=dict(pred_postprocessor=["think", dict(type="regex", pattern=r"\S[^\n]*")]),
        generation=dict(max_tokens=64, temperature=0.0, stop=["\nTitle:", "\nQuestion:"]),
    )
)
class TestSQuAD(DefaultDataAdapter):
    """The references are the annotators' answers."""

    def record_to_sample(self, record: dict[str, Any]) -> Sample:
        """Return the question with its paragraph."""
        return Sample(
            input=record["question"],
            target=list(dict.fromkeys(record["answers"]["text"])),
            id=record["id"],
            metadata={
                "title": record["title"],
                "context": record["context"],
                "context_id": record["context"],
            },
        )

    def template_values(self, sample: Sample) -> dict[str, str]:
        """Add title and paragraph."""
        metadata = sample.metadata or {}
        values = {name: str(metadata[name]) for name in ("title", "context")}
        return {**super().template_values(sample), **values}
