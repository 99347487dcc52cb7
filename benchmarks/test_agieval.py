r"""AGIEval: questions from admission and qualification exams, in English and Chinese.

Paper     Zhong et al. 2023, "AGIEval: A Human-Centric Benchmark for Evaluating Foundation
          Models", https://arxiv.org/abs/2304.06364
Licence   MIT (aqua-rat: Apache-2.0)
Data      no hub copy has all of it; the files of ruixiangcui/AGIEval, data/v1, as
          <data_dir>/agieval/<exam>/test.jsonl: 17 exams, test 4,967 in all. Not here: logiqa-en and
          logiqa-zh (another licence), jec-qa (on request)
Prompt    ours, no shots, in the exam's language: passage, question, lettered choices
Metric    accuracy of the letter (gen: in the reply; ppl, ll: the likeliest). gaokao-physics
          and gaokao-mathqa have rows with several right letters: all and no others count.
          math and gaokao-mathcloze: the results in the reply's last \boxed{}, in order, each
          equal as mathematics (needs the extra math)
Score     none known under exactly this setting
Differs   such equality is not the original's, of texts; rows with several right letters are
          skipped in ppl and ll; choices are lettered anew, as four rows have wrong letters
"""

# ruff: noqa: RUF001 - full-width forms are the data here

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from pytest_evalplug import (
    BaseEvaluator,
    BenchmarkMeta,
    LoglikelihoodQuery,
    MultiChoiceAdapter,
    NotApplicable,
    Sample,
    Tags,
    TaskState,
    postprocessors,
    register_benchmark,
)
from pytest_evalplug.evaluation.evaluators.accuracy import AccEvaluator
from pytest_evalplug.evaluation.evaluators.math import math_equal

EXAMS = [
    "aqua-rat",
    "gaokao-biology",
    "gaokao-chemistry",
    "gaokao-chinese",
    "gaokao-english",
    "gaokao-geography",
    "gaokao-history",
    "gaokao-mathcloze",
    "gaokao-mathqa",
    "gaokao-physics",
    "lsat-ar",
    "lsat-lr",
    "lsat-rc",
    "math",
    "sat-en",
    "sat-en-without-passage",
    "sat-math",
]
SEVERAL_RIGHT = ("gaokao-mathqa", "gaokao-physics")

ENGLISH = dict(
    asked="Question: ",
    answer="Answer:",
    one="Answer with the letter of the right choice.",
    several="One or more choices are right. Answer with all their letters.",
    free=r"Reason step by step and put the result in \boxed{}.",
)
CHINESE = dict(
    asked="问题：",
    answer="答案：",
    one="请回答正确选项的字母。",
    several="正确选项有一个或多个，请回答所有正确选项的字母。",
    free=r"请逐步推理，把结果写在 \boxed{} 中；有几个结果时按顺序用分号隔开。",
)

LABEL = re.compile(r"\A\s*(?:\([A-Z]\)|[A-Z]\s*[.．])\s*")
SEMICOLON = re.compile(r"(?<!\\)[;；]")


class ExamEvaluator(BaseEvaluator):
    """Accuracy: letters as text, and results of questions without choices as mathematics."""

    def score_sample(self, prediction: Any, reference: Any, sample: Sample) -> dict[str, Any]:
        """Compare letters, or the results, as many and in the order that semicolons put them."""
        if sample.choices:
            return AccEvaluator().score_sample(prediction, reference)
        preds, golds = SEMICOLON.split(prediction), SEMICOLON.split(reference)
        alike = (math_equal(rf"\boxed{{{p}}}", g) for p, g in zip(preds, golds, strict=False))
        right = len(preds) == len(golds) and all(alike)
        return {"accuracy": float(right), "correct": right}


@register_benchmark(
    BenchmarkMeta(
        name="agieval",
        pretty_name="AGIEval",
        description="University admission, law school and mathematics exams.",
        description_zh="高考与法学院入学及数学竞赛等标准化考试题。",
        tags=[Tags.EXAM, Tags.REASONING, Tags.MULTIPLE_CHOICE, Tags.CHINESE],
        paper_url="https://arxiv.org/abs/2304.06364",
        license="MIT",
        subset_list=EXAMS,
        prompt_template="{passage}{asked}{question}{choices}\n{instruction}\n{answer}",
        choice_prompt_template="{passage}{asked}{question}{choices}\n{answer}",
        eval_cfg=dict(evaluator=ExamEvaluator),
        generation=dict(max_tokens=1024, temperature=0.0, stop=["\nQuestion:", "\n问题："]),
    )
)
class TestAGIEval(MultiChoiceAdapter):
    """One subset an exam."""

    multiple_correct = True

    def record_to_sample(self, record: dict[str, Any]) -> Sample:
        """Return the question; without choices the reference is ``answer``."""
        options = record["options"]
        return Sample(
            input=record["question"].strip(),
            choices=[LABEL.sub("", option).strip() for option in options or ()] or None,
            target=record["label"] if options else record["answer"],
            metadata={
                "passage": record["passage"] or "",
                "context_id": record["passage"] or None,
            },
        )

    def finish_sample(self, sample: Sample, subset: str) -> Sample:
        """Note the exam, which decides language and kind of answer."""
        finished = super().finish_sample(sample, subset) if sample.choices else sample
        return replace(finished, subset_key=subset)

    def template_values(self, sample: Sample) -> dict[str, str]:
        """Add the passage and the words around the question."""
        exam = sample.subset_key or ""
        chinese = exam.startswith("gaokao") and exam != "gaokao-english"
        words = CHINESE if chinese else ENGLISH
        passage = (sample.metadata or {})["passage"].strip()
        kind = "free" if not sample.choices else "several" if exam in SEVERAL_RIGHT else "one"
        return {
            **super().template_values(sample),
            **words,
            "passage": f"{passage}\n\n" if passage else "",
            "choices": f"\n{self.format_choices(sample)}" if sample.choices else "",
            "instruction": words[kind],
        }

    def build_query(
        self, sample: Sample, subset: str, num_shots: int | None = None
    ) -> LoglikelihoodQuery:
        """Refuse a sample with several right letters: the likeliest is only one."""
        if sample.choices and len(sample.target) > 1:
            raise NotApplicable(f"several choices are right ({sample.target})")
        return super().build_query(sample, subset, num_shots)

    def extract_answer(self, prediction: str, task_state: TaskState) -> Any:
        """Return the letter or letters, or the boxed formula."""
        sample = task_state.sample
        if not sample.choices:
            return postprocessors.get("boxed")(prediction)
        extract = postprocessors.get("first-option")
        letters = "ABCDE"[: len(sample.choices)]
        return extract(prediction, options=letters, multi=sample.subset_key in SEVERAL_RIGHT)
