"""XSum: BBC articles, each to be summed up in one sentence.

Paper     Narayan et al. 2018, "Don't Give Me the Details, Just the Summary! Topic-Aware
          Convolutional Neural Networks for Extreme Summarization",
          https://arxiv.org/abs/1808.08745
Licence   MIT (the authors' repository; the articles are the BBC's)
Data      hub EdinburghNLP/xsum: test 11,334, train 204,045 (shots, if asked for), a few empty
          documents among them. Not tested on the real data here
Prompt    ours, no shots: the article, "Summary in one sentence:"
Metric    ROUGE-1, ROUGE-2 and ROUGE-L of the reply's first line; no verdict
Score     none known under exactly this setting; PEGASUS large, trained for it, 47.21, 24.56 and
          39.25 (Zhang et al. 2019, https://arxiv.org/abs/1912.08777), with stemming
Differs   no stemming
"""

from __future__ import annotations

from typing import Any

from pytest_evalplug import BenchmarkMeta, DefaultDataAdapter, Sample, Tags, register_benchmark


@register_benchmark(
    BenchmarkMeta(
        name="xsum",
        pretty_name="XSum",
        description="BBC articles, each to be summed up in one sentence.",
        description_zh="将 BBC 新闻概括为一句话。",
        tags=[Tags.SUMMARIZATION],
        paper_url="https://arxiv.org/abs/1808.08745",
        license="MIT",
        dataset_id="EdinburghNLP/xsum",
        train_split="train",
        prompt_template="Article: {question}\n\nSummary in one sentence:",
        metric_list=["rouge"],
        eval_cfg=dict(pred_postprocessor=["think", dict(type="regex", pattern=r"\S[^\n]*")]),
        generation=dict(max_tokens=128, temperature=0.0, stop=["\nArticle:"]),
    )
)
class TestXSum(DefaultDataAdapter):
    """One item an article."""

    def record_to_sample(self, record: dict[str, Any]) -> Sample:
        """Return the article; the reference is its introductory sentence."""
        return Sample(
            input=record["document"].strip(), target=record["summary"].strip(), id=record["id"]
        )

    def sample_filter(self, sample: Sample) -> bool:
        """Leave out what has no article: there is nothing to sum up."""
        return bool(sample.input)
