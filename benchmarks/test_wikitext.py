"""WikiText-2: whole articles of Wikipedia, and how well a model foresees them.

Paper     Merity et al. 2016, "Pointer Sentinel Mixture Models",
          https://arxiv.org/abs/1609.07843
Licence   CC BY-SA 3.0
Data      hub EleutherAI/wikitext_document_level, subset wikitext-2-raw-v1: test 62 articles,
          validation 60, train 629. Not tested on the real data here
Prompt    none: the article, without the spaces that its tokens are set apart by, as
          lm-evaluation-harness's wikitext writes it; longer ones in windows of the model's
          context, each token once
Metric    word_perplexity, byte_perplexity, bits_per_byte over all articles, less is better; words
          and bytes are those of the article with its spaces. Only in ll; there is no verdict
Score     Llama 2 7B: 8.79, 1.50, 0.586 (EleutherAI/lm-evaluation-harness, pull request 833)
Differs   a step of the harness that would write "[0-9]" into a text with slashes is left out.
          Perplexities by token of all articles as one text, as in papers on quantization, are
          other numbers
"""

from __future__ import annotations

import re
from typing import Any

from pytest_evalplug import BenchmarkMeta, DefaultDataAdapter, Sample, Tags, register_benchmark

SPACED = {" : ": ": ", " ; ": "; ", " . ": ". ", " ! ": "! ", " ? ": "? ", " , ": ", "}
WITHIN_NUMBERS = {" @-@ ": "-", " @,@ ": ",", " @.@ ": "."}
BRACKETS = [("(", ")"), ("[", "]"), ("{", "}"), ('"', '"'), ("'", "'")]
OTHERS = {
    **{"= = = =": "====", "= = =": "===", "= =": "==", " \u00b0 ": "\u00b0"},
    **{" \n": "\n", "\n ": "\n", " N ": " 1 ", " 's": "'s"},
}


@register_benchmark(
    BenchmarkMeta(
        name="wikitext",
        pretty_name="WikiText-2",
        description="Articles of Wikipedia, read as they stand.",
        description_zh="衡量模型对维基百科条目全文的困惑度。",
        tags=[Tags.LANGUAGE_MODELING],
        paper_url="https://arxiv.org/abs/1609.07843",
        license="CC-BY-SA-3.0",
        dataset_id="EleutherAI/wikitext_document_level",
        subset_list=["wikitext-2-raw-v1"],
        eval_cfg=dict(evaluator="text_perplexity"),
        generation=dict(temperature=0.0),
    )
)
class TestWikiText(DefaultDataAdapter):
    """One item an article."""

    modes = ("ll",)

    def record_to_sample(self, record: dict[str, Any]) -> Sample:
        """Return an article that nothing stands before."""
        return Sample(input="", target=record["page"])

    def continuations(self, sample: Sample) -> list[str]:
        """Return the article as people write."""
        return [detokenized(sample.target)]


def detokenized(page: str) -> str:
    """Return an article without the spaces between its tokens, in the harness's steps."""
    text = page.replace("s '", "s'")
    for tokens, written in (WITHIN_NUMBERS | SPACED).items():
        text = text.replace(tokens, written)
    for left, right in BRACKETS:
        inner = rf"\{left}\s*([^\{right}]*?)\s*\{right}"
        text = re.sub(inner, rf"{left}\1{right}", text)
    for tokens, written in OTHERS.items():
        text = text.replace(tokens, written)
    return text
