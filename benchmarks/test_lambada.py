"""LAMBADA: the last word of a passage, which people guess from all of it only.

Paper     Paperno et al. 2016, "The LAMBADA dataset: Word prediction requiring a broad discourse
          context", https://arxiv.org/abs/1606.06031
Licence   MIT, by the data's card
Data      hub EleutherAI/lambada_openai, subset default: test 5,153, the passages as OpenAI
          prepared them for GPT-2, not cut into tokens
Prompt    the passage without its last word, as lm-evaluation-harness's lambada_openai has it. In
          gen that is for base models: a chat model replies to the passage
Metric    ll: accuracy, whether the word is what greedy decoding gives; perplexity, exp of the
          mean loss of a word, less is better. gen: accuracy of the first word of the reply
Score     ll: GPT-J 6B accuracy 69.7, perplexity 3.99 (README of kingoflolz/mesh-transformer-jax);
          BLOOM 560M 35.4 and 28.7 (EleutherAI/lm-evaluation-harness, results/bloom)
Differs   in gen only letters, digits, apostrophes and hyphens count, so that a comma or a quote at
          the word is no mistake; columns context, continuation of some copies are read too
"""

from __future__ import annotations

from typing import Any

from pytest_evalplug import BenchmarkMeta, DefaultDataAdapter, Sample, Tags, register_benchmark

FIRST_WORD = dict(type="regex", pattern=r"\w+(?:['\u2019-]\w+)*")


@register_benchmark(
    BenchmarkMeta(
        name="lambada",
        pretty_name="LAMBADA",
        description="The last word of a passage from a novel.",
        description_zh="预测小说片段的最后一个词。",
        tags=[Tags.LANGUAGE_MODELING],
        paper_url="https://arxiv.org/abs/1606.06031",
        license="MIT",
        dataset_id="EleutherAI/lambada_openai",
        metric_list=["accuracy", "perplexity"],
        eval_cfg=dict(pred_postprocessor=FIRST_WORD, dataset_postprocessor=FIRST_WORD),
        generation=dict(max_tokens=16, temperature=0.0),
    )
)
class TestLAMBADA(DefaultDataAdapter):
    """One item a passage."""

    modes = ("gen", "ll")

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if self.options.eval_mode == "gen":  # a reply has no perplexity
            self.metric_list = ["accuracy"]

    def record_to_sample(self, record: dict[str, Any]) -> Sample:
        """Read a row of the hub, or of a copy with context and continuation."""
        if "text" not in record:
            return Sample(input=record["context"], target=record["continuation"])
        context, _, word = record["text"].rpartition(" ")
        return Sample(input=context, target=word)

    def continuations(self, sample: Sample) -> list[str]:
        """Return the last word, after a space."""
        return [f" {sample.target}"]
