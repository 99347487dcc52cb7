"""Inverse IFEval: instructions that go against what models are trained to do.

Paper     Zhang et al. 2025, "Inverse IFEval: Can LLMs Unlearn Stubborn Training Conventions to
          Follow Real Instructions?", https://arxiv.org/abs/2509.04292
Licence   none: neither the hub's card nor the paper states one
Data      hub m-a-p/Inverse_IFEval: train 1,012, the only split, half of it Chinese and half
          English; a subset is a language with one of eight types of instruction. The columns are
          those that OpenCompass 0.5.4 reads. Not tested on the real data here
Prompt    the data's own
Metric    accuracy: a judge model (--judge-model) is asked with the row's own system prompt and
          template, and gives 1 or 0 as "answer_score". --eval-summarizer inverse_ifeval adds
          averages over all, over Chinese, and over subsets
Score     DeepSeek-R1-0528 50.0 English, 56.9 Chinese; o3-high 75.7 and 76.5 (the paper, table
          3), with a judge chosen for each type
Differs   an empty reply is wrong without asking; a judge's reply without a score is asked for once
          more, then the sample is an error (OpenCompass: wrong)
"""

# ruff: noqa: RUF001 - full-width forms are the data here

from __future__ import annotations

import re
from typing import Any

from pytest_evalplug import BenchmarkMeta, DefaultDataAdapter, Sample, Tags, register_benchmark
from pytest_evalplug.dataset.templates import fill
from pytest_evalplug.evaluation.evaluators.llm import JudgeEvaluator
from pytest_evalplug.evaluation.judge.judge import Judge
from pytest_evalplug.evaluation.judge.prompts import shown

LANGUAGES = {"chinese": "zh", "english": "en"}
TYPES = {
    "Question Correction": "QC",
    "Intentional Textual Flaws": "ITF",
    "Code without Comments": "CC",
    "Counter-Conventional Formatting": "CCF",
    "Deliberately Incorrect Answers": "DIA",
    "Instructional Induction": "II",
    "Mid-turn Instruction Modification": "MIM",
    "Counterfactual Answering": "CA",
}
SCORE = re.compile(r"(?:answer_score[\"']?|评分】?) ?[:：] ?[\"']?(\d+(?:\.\d+)?)")


def answer_score(reply: str) -> int | None:
    """Return the last score that a judge gives, ``None`` for none or one that isn't 0 or 1."""
    found = SCORE.findall(shown(reply))
    score = float(found[-1]) if found else None
    return int(score) if score in (0, 1) else None


class RowJudgeEvaluator(JudgeEvaluator):
    """Asks a judge as each row says."""

    async def score_sample(
        self,
        prediction: Any,
        reference: Any,
        sample: Sample,
        judge: Judge | None = None,
        dataset: str = "judge",
    ) -> dict[str, Any]:
        """Ask the judge about one reply."""
        response, row = shown(prediction), sample.metadata or {}
        if not response:
            return {"accuracy": 0.0, "correct": False}
        prompt = fill(
            row["judge_prompt_template"],
            prompt=sample.input,
            response_reference=reference,
            response=response,
        )
        form = '{"answer_score": 0} or {"answer_score": 1}'
        score, reply = await self.ask(
            judge, dataset, prompt, answer_score, form, system_prompt=row["judge_system_prompt"]
        )
        return {"accuracy": float(score), "correct": score == 1, "judge_reply": reply}


@register_benchmark(
    BenchmarkMeta(
        name="inverse_ifeval",
        pretty_name="Inverse IFEval",
        description="Instructions that go against what models are trained to do.",
        description_zh="与模型训练习惯相反的指令，检验模型能否照做。",
        tags=[Tags.INSTRUCTION_FOLLOWING, Tags.CHINESE],
        paper_url="https://arxiv.org/abs/2509.04292",
        license="unknown",
        dataset_id="m-a-p/Inverse_IFEval",
        revision="35f1da157640526e62b7685b682d748fa55ccfd0",
        subset_list=[f"{lang}_{kind}" for lang in LANGUAGES.values() for kind in TYPES.values()],
        reformat_subset=True,
        eval_split="train",
        eval_cfg=dict(evaluator=RowJudgeEvaluator),
        generation=dict(max_tokens=4096, temperature=0.0),
    )
)
class TestInverseIFEval(DefaultDataAdapter):
    """One subset a language and type, ``zh_QC``."""

    def record_to_sample(self, record: dict[str, Any]) -> Sample:
        """Return the prompt; the Evaluator reads how to judge from the metadata."""
        names = ("judge_prompt_template", "judge_system_prompt")
        return Sample(
            input=record["prompt"],
            target=record["response_reference"],
            subset_key=f"{LANGUAGES[record['language']]}_{TYPES[record['instruction_types']]}",
            metadata={name: record[name] for name in names},
        )
