r"""MATH-500: competition mathematics with a free answer, a formula.

Paper     Lightman et al. 2023, "Let's Verify Step by Step", https://arxiv.org/abs/2305.20050,
          which drew these from MATH (Hendrycks et al. 2021, https://arxiv.org/abs/2103.03874)
Licence   MIT
Data      hub HuggingFaceH4/MATH-500: test 500, the only split; seven subjects, levels 1 to 5
Prompt    the problem and "Please reason step by step, and put your final answer within
          \boxed{}.", with which DeepSeek-R1 and Qwen2.5-Math are evaluated; no shots
Metric    accuracy: equality as mathematics of the reply's final answer (needs the extra math)
Score     DeepSeek-R1-Distill-Qwen-7B 92.8 (DeepSeek-AI 2025, https://arxiv.org/abs/2501.12948),
          sampled at temperature 0.6, up to 32,768 tokens
Differs   greedy, up to 4,096 tokens; the paper's grader compares texts and what sympy simplifies
"""

from __future__ import annotations

from typing import Any

from pytest_evalplug import BenchmarkMeta, DefaultDataAdapter, Sample, Tags, register_benchmark


@register_benchmark(
    BenchmarkMeta(
        name="math500",
        pretty_name="MATH-500",
        description="Competition mathematics, from prealgebra to precalculus.",
        description_zh="从初等代数到微积分预备的数学竞赛题。",
        tags=[Tags.MATH, Tags.REASONING],
        paper_url="https://arxiv.org/abs/2305.20050",
        license="MIT",
        dataset_id="HuggingFaceH4/MATH-500",
        prompt_template=(
            "{question}\nPlease reason step by step, and put your final answer within \\boxed{}."
        ),
        eval_cfg=dict(evaluator="math"),
        generation=dict(max_tokens=4096, temperature=0.0),
    )
)
class TestMATH500(DefaultDataAdapter):
    """One item a problem."""

    def record_to_sample(self, record: dict[str, Any]) -> Sample:
        """Return the problem; the reference is the formula that its solution boxes."""
        return Sample(
            input=record["problem"],
            target=record["answer"],
            id=record["unique_id"],
            metadata={"subject": record["subject"], "level": record["level"]},
        )
