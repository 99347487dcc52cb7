"""IFEval: prompts with instructions that a program can check, such as "do not use commas".

Paper     Zhou et al. 2023, "Instruction-Following Evaluation for Large Language Models",
          https://arxiv.org/abs/2311.07911
Licence   Apache-2.0
Data      hub google/IFEval: train 541, the only split; 834 instructions of 25 kinds
Prompt    the data's own, outer white space too; no shots
Metric    share of prompts with all instructions followed, and of all instructions; strict and
          loose. The reply is scored as it is
Score     GPT-4 76.9 of prompts and 83.6 of instructions strictly, 79.3 and 85.4 loosely (the
          paper, November 2023)
Differs   the character that two prompts count is "#" or "!": the authors' code counts a random
          letter instead
"""

from __future__ import annotations

from typing import Any

from pytest_evalplug import BenchmarkMeta, DefaultDataAdapter, Sample, Tags, register_benchmark


@register_benchmark(
    BenchmarkMeta(
        name="ifeval",
        pretty_name="IFEval",
        description="Prompts with instructions that a program can check.",
        description_zh="含有可由程序检验的指令的提示。",
        tags=[Tags.INSTRUCTION_FOLLOWING],
        paper_url="https://arxiv.org/abs/2311.07911",
        license="Apache-2.0",
        dataset_id="google/IFEval",
        eval_split="train",
        eval_cfg=dict(evaluator=dict(type="ifeval")),
        generation=dict(max_tokens=1280, temperature=0.0),
    )
)
class TestIFEval(DefaultDataAdapter):
    """The instructions are the reference: their names are shown, the metadata has the rest."""

    def record_to_sample(self, record: dict[str, Any]) -> Sample:
        """Return the prompt; the Evaluator reads the instructions from the metadata."""
        names = list(record["instruction_id_list"])
        return Sample(
            input=record["prompt"],
            target=names,
            metadata={
                "key": record["key"],
                "instruction_id_list": names,
                "kwargs": record["kwargs"],
            },
        )
