"""MMLU: multiple-choice questions from 57 subjects, school to profession.

Paper     Hendrycks et al. 2021, "Measuring Massive Multitask Language Understanding",
          https://arxiv.org/abs/2009.03300
Licence   MIT
Data      hub cais/mmlu, one subset a subject: test 14,042 in all, dev 5 each (the shots)
Prompt    the published one: a header that names the subject, 5 shots in the order of dev,
          "A. choice" lines, "Answer:" and the letter
Metric    accuracy: of the letter in the reply (gen), of the likeliest letter (ppl, ll)
Score     Llama 2 7B 45.3, 70B 68.9, 5 shots (Touvron et al. 2023, arXiv:2307.09288, table 3)
Differs   the header has one space before the subject's name (the authors' script wrote two);
          a further question that a reply makes up is not read; columns choice0..choice3, which
          some copies have instead of choices, are read too
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from pytest_evalplug import (
    BenchmarkMeta,
    MultiChoiceAdapter,
    Sample,
    Tags,
    postprocessors,
    register_benchmark,
)

# fmt: off
SUBJECTS = [
    "abstract_algebra", "anatomy", "astronomy", "business_ethics", "clinical_knowledge",
    "college_biology", "college_chemistry", "college_computer_science", "college_mathematics",
    "college_medicine", "college_physics", "computer_security", "conceptual_physics",
    "econometrics", "electrical_engineering", "elementary_mathematics", "formal_logic",
    "global_facts", "high_school_biology", "high_school_chemistry",
    "high_school_computer_science", "high_school_european_history", "high_school_geography",
    "high_school_government_and_politics", "high_school_macroeconomics",
    "high_school_mathematics", "high_school_microeconomics", "high_school_physics",
    "high_school_psychology", "high_school_statistics", "high_school_us_history",
    "high_school_world_history", "human_aging", "human_sexuality", "international_law",
    "jurisprudence", "logical_fallacies", "machine_learning", "management", "marketing",
    "medical_genetics", "miscellaneous", "moral_disputes", "moral_scenarios", "nutrition",
    "philosophy", "prehistory", "professional_accounting", "professional_law",
    "professional_medicine", "professional_psychology", "public_relations",
    "security_studies", "sociology", "us_foreign_policy", "virology", "world_religions",
]
# fmt: on
NEXT = re.compile(r"\n\n(?:.+\n){1,20}?A\. .*\nB\. .*\nC\. .*\nD\. .*\nAnswer:")
"""A further question. It has no label, and to stop at "Answer:" would cut answers short."""


def letter(reply: str, options: str = "ABCD") -> str:
    """Return a reply's letter; a question in it that nothing answered before is restated."""
    read = postprocessors.get("first-option")
    return str(read(NEXT.split(reply, maxsplit=1)[0], options) or read(reply, options))


@register_benchmark(
    BenchmarkMeta(
        name="mmlu",
        pretty_name="MMLU",
        description="Knowledge of 57 subjects from abstract algebra to world religions.",
        description_zh="从抽象代数到世界宗教的五十七个学科的知识题。",
        tags=[Tags.KNOWLEDGE, Tags.EXAM, Tags.MULTIPLE_CHOICE],
        paper_url="https://arxiv.org/abs/2009.03300",
        license="MIT",
        dataset_id="cais/mmlu",
        revision="c30699e8356da336a370243923dbaf21066bb9fe",
        subset_list=SUBJECTS,
        train_split="dev",
        few_shot_num=5,
        prompt_header=(
            "The following are multiple choice questions (with answers) about {subject}.\n\n"
        ),
        prompt_template="{question}\n{choices}\nAnswer:",
        eval_cfg=dict(pred_postprocessor=letter),
        generation=dict(max_tokens=256, temperature=0.0),
    )
)
class TestMMLU(MultiChoiceAdapter):
    """One subset a subject."""

    def record_to_sample(self, record: dict[str, Any]) -> Sample:
        """Return the question; ``answer`` counts from 0."""
        choices = record.get("choices") or [record[f"choice{i}"] for i in range(4)]
        return Sample(
            input=record["question"],
            choices=choices,
            target="ABCD"[record["answer"]],
        )

    def finish_sample(self, sample: Sample, subset: str) -> Sample:
        """Note the subject, which the header names."""
        return replace(super().finish_sample(sample, subset), subset_key=subset)

    def template_values(self, sample: Sample) -> dict[str, str]:
        """Add ``{subject}``, in words."""
        subject = (sample.subset_key or "").replace("_", " ")
        return {**super().template_values(sample), "subject": subject}
