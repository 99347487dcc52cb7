"""HumanEval: Python functions to be completed from signature and docstring.

Paper     Chen et al. 2021, "Evaluating Large Language Models Trained on Code",
          https://arxiv.org/abs/2107.03374
Licence   MIT
Data      hub openai/openai_humaneval: test 164, the only split
Prompt    humaneval: the data's own, to be continued; humaneval_chat: an instruction of ours with
          the function in a fence
Metric    pass@1: the share of programs that pass the task's tests, run in the sandbox. pass@k
          from n samples: --eval-set humaneval.repeats=20 --eval-set humaneval.k='[1, 10]'
          --eval-set humaneval.generation.temperature=0.8
Score     Code Llama 7B 33.5, greedy (Rozière et al. 2023, https://arxiv.org/abs/2308.12950)
Differs   the program is taken out of a reply with prose or fences, and ends with the function, so
          that four of the authors' five stop sequences do, the most that some APIs take; 10
          seconds for a test (the authors: 3), as machines that run many are loaded
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pytest_evalplug import BenchmarkMeta, DefaultDataAdapter, Sample, Tags, register_benchmark

META = BenchmarkMeta(
    name="humaneval",
    pretty_name="HumanEval",
    description="Python functions to be written from signature and docstring.",
    description_zh="根据函数签名和文档字符串补全 Python 函数。",
    tags=[Tags.CODING],
    paper_url="https://arxiv.org/abs/2107.03374",
    license="MIT",
    dataset_id="openai/openai_humaneval",
    metric_list=["humaneval"],
    generation=dict(
        max_tokens=512,
        temperature=0.0,
        stop=["\nclass", "\ndef", "\nif", "\nprint"],
    ),
)


class Functions(DefaultDataAdapter):
    """What both benchmarks share."""

    def record_to_sample(self, record: dict[str, Any]) -> Sample:
        """Return the function's head; the Evaluator reads the test from the metadata."""
        names = ("prompt", "entry_point", "test")
        return Sample(
            input=record["prompt"],
            target=record["canonical_solution"],
            id=record["task_id"],
            metadata={name: record[name] for name in names},
        )


@register_benchmark(META)
class TestHumanEval(Functions):
    """For models that continue a text."""


@register_benchmark(
    replace(
        META,
        name="humaneval_chat",
        pretty_name="HumanEval, chat",
        data_name="humaneval",
        prompt_template=(
            "Complete this Python function. Reply with one fenced block that holds the whole "
            "function, its imports and helpers included.\n\n```python\n{question}```"
        ),
        generation=dict(max_tokens=2048, temperature=0.0),
    )
)
class TestHumanEvalChat(Functions):
    """For models that reply."""
