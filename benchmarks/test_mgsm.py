"""MGSM: 250 problems of GSM8K in English and, by hand, in ten other languages.

Paper     Shi et al. 2022, "Language Models are Multilingual Chain-of-Thought Reasoners",
          https://arxiv.org/abs/2210.03057
Licence   CC BY 4.0
Data      hub juletxara/mgsm, one subset a language: test 2,750 in all, 250 a language, train 8
          (the exemplars); with data of one's own these are <data_dir>/mgsm/exemplars.jsonl
          (lang, q, a) for all languages
Prompt    the paper's Native-CoT: exemplars, question and "Step-by-Step Answer:" in the language
Metric    accuracy of the reply's final number, by value; a row each language, and their average
Score     PaLM 540B above 40 in every language (the paper, section 1)
Differs   all 8 exemplars (the paper: 6, or fewer where they were too long for a model)
"""

# ruff: noqa: RUF001 - full-width forms are the data here

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from pytest_evalplug import BenchmarkMeta, DefaultDataAdapter, Sample, Tags, register_benchmark
from pytest_evalplug.errors import DataError

LANGUAGES = {
    "bn": ("প্রশ্ন: ", "ধাপে ধাপে উত্তর:"),
    "de": ("Frage: ", "Schritt-für-Schritt-Antwort:"),
    "en": ("Question: ", "Step-by-Step Answer:"),
    "es": ("Pregunta: ", "Respuesta paso a paso:"),
    "fr": ("Question : ", "Réponse étape par étape :"),
    "ja": ("問題：", "ステップごとの答え："),
    "ru": ("Задача: ", "Пошаговое решение:"),
    "sw": ("Swali: ", "Jibu la Hatua kwa Hatua:"),
    "te": ("ప్రశ్న: ", "దశలవారీగా సమాధానం:"),
    "th": ("โจทย์: ", "คำตอบทีละขั้นตอน:"),
    "zh": ("问题：", "逐步解答："),
}
"""How the exemplars begin question and answer."""


@register_benchmark(
    BenchmarkMeta(
        name="mgsm",
        pretty_name="MGSM",
        description="Grade-school word problems in eleven languages.",
        description_zh="十一种语言的小学数学应用题。",
        tags=[Tags.MATH, Tags.REASONING, Tags.MULTILINGUAL],
        paper_url="https://arxiv.org/abs/2210.03057",
        license="CC-BY-4.0",
        dataset_id="juletxara/mgsm",
        subset_list=list(LANGUAGES),
        train_split="train",
        few_shot_num=8,
        prompt_template="{asked}{question}\n{answer}",
        eval_cfg=dict(pred_postprocessor="last-number", evaluator="number"),
        generation=dict(max_tokens=512, temperature=0.0),
    )
)
class TestMGSM(DefaultDataAdapter):
    """One subset a language."""

    def record_to_sample(self, record: dict[str, Any]) -> Sample:
        """Return the question; the hub has the number of a test row in ``answer_number``."""
        answer = record["answer"]
        target = record["answer_number"] if answer is None else answer
        return Sample(input=record["question"], target=str(target))

    def load_fewshot_subset(self, subset: str) -> list[Sample]:
        """Return the exemplars, which stand in one file for all languages, or on the hub."""
        try:
            path = self.find_file(subset, "../exemplars.jsonl")
        except DataError:
            return super().load_fewshot_subset(subset)
        rows = map(json.loads, path.read_text(encoding="utf-8").strip().split("\n"))
        return [Sample(row["q"], row["a"]) for row in rows if row["lang"] == subset]

    def sample_to_fewshot(self, sample: Sample) -> str:
        """Return an exemplar as it stands, labels and all."""
        return f"{sample.input}\n{sample.target}"

    def finish_sample(self, sample: Sample, subset: str) -> Sample:
        """Note the language, which the labels are in."""
        return replace(sample, subset_key=subset)

    def template_values(self, sample: Sample) -> dict[str, str]:
        """Add the labels of question and answer."""
        asked, answer = LANGUAGES[sample.subset_key or ""]
        return {**super().template_values(sample), "asked": asked, "answer": answer}

    async def _on_inference(self, model: Any, sample: Sample) -> Any:
        """Stop where the model makes up a further question in the language."""
        asked, _ = LANGUAGES[sample.subset_key or ""]
        return await model.agenerate(sample.input, stop=(f"\n{asked.rstrip()}",))
