"""TriviaQA: questions of quiz enthusiasts, answered from memory.

Paper     Joshi et al. 2017, "TriviaQA: A Large Scale Distantly Supervised Challenge Dataset for
          Reading Comprehension", https://arxiv.org/abs/1705.03551
Licence   Apache-2.0 (the authors' repository; the questions are their writers')
Data      hub mandarjoshi/trivia_qa, subset rc.nocontext: validation 17,944 (the references of
          test are hidden), train 138,384 (shots, if asked for)
Prompt    "Question: ...", "Answer:", no shots and no context (closed book), as in
          lm-evaluation-harness
Metric    exact match of the reply's first line with any alias, by SQuAD's rules
Score     LLaMA 7B 50.0 without shots, 57.6 with 64 (Touvron et al. 2023,
          https://arxiv.org/abs/2302.13971), with a prompt of their own
Differs   a reply ends with its line: elsewhere a full stop or comma ends it too, so that "St.
          Louis" is never right; columns context, answer, aliases of some copies are read too
"""

from __future__ import annotations

from typing import Any

from pytest_evalplug import BenchmarkMeta, DefaultDataAdapter, Sample, Tags, register_benchmark


@register_benchmark(
    BenchmarkMeta(
        name="triviaqa",
        pretty_name="TriviaQA",
        description="Quiz questions, answered from memory in a few words.",
        description_zh="仅凭记忆用几个词回答的知识问答题。",
        tags=[Tags.KNOWLEDGE],
        paper_url="https://arxiv.org/abs/1705.03551",
        license="Apache-2.0",
        dataset_id="mandarjoshi/trivia_qa",
        subset_list=["rc.nocontext"],
        eval_split="validation",
        train_split="train",
        prompt_template="Question: {question}\nAnswer:",
        metric_list=["exact_match"],
        eval_cfg=dict(pred_postprocessor=["think", dict(type="regex", pattern=r"\S[^\n]*")]),
        generation=dict(max_tokens=64, temperature=0.0, stop=["\nQuestion:"]),
    )
)
class TestTriviaQA(DefaultDataAdapter):
    """The references are the answer and all its aliases."""

    def record_to_sample(self, record: dict[str, Any]) -> Sample:
        """Read a row of the hub, or of a copy with context, answer and aliases."""
        if "context" in record:
            question = record["context"].removeprefix("Question: ").removesuffix("\nAnswer:")
            answer, aliases = record["answer"], record["aliases"]
        else:
            question = record["question"]
            answer, aliases = record["answer"]["value"], record["answer"]["aliases"]
        return Sample(input=question, target=list(dict.fromkeys([answer, *aliases])))
