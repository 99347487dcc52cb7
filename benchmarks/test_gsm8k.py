"""GSM8K: grade-school mathematics word problems, reasoning with a free, numeric answer.

Paper     Cobbe et al. 2021, "Training Verifiers to Solve Math Word Problems",
          https://arxiv.org/abs/2110.14168
Licence   MIT
Data      hub openai/gsm8k, subset main: test 1,319, train 7,473 (the shots)
Prompt    ours. gsm8k: the first 4 problems of train with their solutions, as EvalScope and
          OpenCompass count shots; gsm8k_0shot: the question and the form of the answer
Metric    accuracy of the reply's final number, by value, against what follows "####"
Score     Llama 2 7B 14.6, with 8 shots (Touvron et al. 2023, https://arxiv.org/abs/2307.09288)
Differs   the calculator annotations (<<48/2=24>>) are taken out of the shots. But for these, and
          with --eval-set gsm8k.few_shot_num=5, the prompt is lm-evaluation-harness's, whose
          flexible-extract agrees on all replies that the tests have
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from pytest_evalplug import BenchmarkMeta, DefaultDataAdapter, Sample, Tags, register_benchmark

ANNOTATION = re.compile(r"<<[^<>]*>>")

META = BenchmarkMeta(
    name="gsm8k",
    pretty_name="GSM8K",
    description="Grade-school word problems of two to eight steps.",
    description_zh="需要二至八步推理的小学数学应用题。",
    tags=[Tags.MATH, Tags.REASONING],
    paper_url="https://arxiv.org/abs/2110.14168",
    license="MIT",
    dataset_id="openai/gsm8k",
    revision="e53f048856ff4f594e959d75785d2c2d37b678ee",
    subset_list=["main"],
    train_split="train",
    few_shot_num=4,
    prompt_template="Question: {question}\nAnswer:",
    eval_cfg=dict(
        pred_postprocessor=dict(type="last-number"),
        dataset_postprocessor=dict(type="after", marker="####"),
        evaluator=dict(type="number"),
    ),
    generation=dict(max_tokens=512, temperature=0.0, stop=["\nQuestion:"]),
)


class Problems(DefaultDataAdapter):
    """What both benchmarks share."""

    def record_to_sample(self, record: dict[str, Any]) -> Sample:
        """Return the question; the reference is the whole solution, its number at the end."""
        return Sample(input=record["question"], target=record["answer"])

    def sample_to_fewshot(self, sample: Sample) -> str:
        """Return question and solution as people would write it."""
        return f"{self.format_prompt_template(sample)} {ANNOTATION.sub('', sample.target)}"


@register_benchmark(META)
class TestGSM8K(Problems):
    """Four shots."""


@register_benchmark(
    replace(
        META,
        name="gsm8k_0shot",
        pretty_name="GSM8K, no shots",
        data_name="gsm8k",
        train_split=None,
        few_shot_num=0,
        generation=dict(max_tokens=1024, temperature=0.0),
        prompt_template=(
            "{question}\nReason step by step. Then give the result, a single number, on a last "
            'line of the form "The answer is N."'
        ),
    )
)
class TestGSM8KZeroShot(Problems):
    """No shots."""
