"""Demo math: arithmetic word problems with a free, numeric answer.

Paper     none: written for this project, to try it out with; no measure of anything else
Licence   Apache-2.0, as this project
Data      data/demo_math beside this file; test 76, train 6 (the shots)
Prompt    ours: 2 worked examples, each ending in "The answer is N."
Metric    accuracy of the reply's final number, by value
Score     none published
"""

from __future__ import annotations

from typing import Any

from pytest_evalplug import BenchmarkMeta, DefaultDataAdapter, Sample, Tags, register_benchmark


@register_benchmark(
    BenchmarkMeta(
        name="demo_math",
        pretty_name="Demo math",
        description="Arithmetic word problems, from one step to three.",
        description_zh="一至三步的算术应用题。",
        tags=[Tags.MATH, Tags.REASONING],
        dataset_id="data/demo_math",
        license="Apache-2.0",
        train_split="train",
        few_shot_num=2,
        prompt_template="Question: {question}\nAnswer:",
        eval_cfg=dict(pred_postprocessor=dict(type="last-number"), evaluator=dict(type="number")),
        generation=dict(max_tokens=96, temperature=0.0, stop=["\nQuestion:"]),
    )
)
class TestDemoMath(DefaultDataAdapter):
    """One item a word problem."""

    def record_to_sample(self, record: dict[str, Any]) -> Sample:
        """Keep the worked solution, which the shots show."""
        return Sample(
            input=record["question"],
            target=record["answer"],
            id=record["id"],
            metadata={"solution": record.get("solution")},
        )

    def sample_to_fewshot(self, sample: Sample) -> str:
        """Return question, solution and answer."""
        solution = (sample.metadata or {})["solution"]
        return f"{self.format_prompt_template(sample)} {solution} The answer is {sample.target}."
