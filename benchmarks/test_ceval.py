"""C-Eval: Chinese exam questions from 52 subjects, middle school to profession.

Paper     Huang et al. 2023, "C-Eval: A Multi-Level Multi-Discipline Chinese Evaluation Suite for
          Foundation Models", https://arxiv.org/abs/2305.08322
Licence   CC BY-NC-SA 4.0
Data      hub ceval/ceval-exam, one subset a subject: val 1,346 in all, dev 5 each (the shots);
          the answers of test (12,342) are hidden. Not tested on the real data here
Prompt    the published one, answer only: a header that names the subject, 5 shots in the order
          of dev, "A. choice" lines and the letter after the colon, without a space
Metric    accuracy: of the letter in the reply (gen), of the likeliest letter (ppl, ll)
Score     none known on val under exactly this setting. On test: GPT-4 68.7, ChatGPT 54.4,
          LLaMA-65B 38.8 (README of hkust-nlp/ceval)
Differs   one text instead of a conversation; a question that a reply goes on to make up is not
          read. The preset ceval sums up STEM, social science, humanities, other and the eight
          hard subjects, as the authors divide them
"""

# ruff: noqa: RUF001 - full-width forms are the prompt here

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

SUBJECTS = {
    "accountant": "注册会计师",
    "advanced_mathematics": "高等数学",
    "art_studies": "艺术学",
    "basic_medicine": "基础医学",
    "business_administration": "工商管理",
    "chinese_language_and_literature": "中国语言文学",
    "civil_servant": "公务员",
    "clinical_medicine": "临床医学",
    "college_chemistry": "大学化学",
    "college_economics": "大学经济学",
    "college_physics": "大学物理",
    "college_programming": "大学编程",
    "computer_architecture": "计算机组成",
    "computer_network": "计算机网络",
    "discrete_mathematics": "离散数学",
    "education_science": "教育学",
    "electrical_engineer": "注册电气工程师",
    "environmental_impact_assessment_engineer": "环境影响评价工程师",
    "fire_engineer": "注册消防工程师",
    "high_school_biology": "高中生物",
    "high_school_chemistry": "高中化学",
    "high_school_chinese": "高中语文",
    "high_school_geography": "高中地理",
    "high_school_history": "高中历史",
    "high_school_mathematics": "高中数学",
    "high_school_physics": "高中物理",
    "high_school_politics": "高中政治",
    "ideological_and_moral_cultivation": "思想道德修养与法律基础",
    "law": "法学",
    "legal_professional": "法律职业资格",
    "logic": "逻辑学",
    "mao_zedong_thought": "毛泽东思想和中国特色社会主义理论体系概论",
    "marxism": "马克思主义基本原理",
    "metrology_engineer": "注册计量师",
    "middle_school_biology": "初中生物",
    "middle_school_chemistry": "初中化学",
    "middle_school_geography": "初中地理",
    "middle_school_history": "初中历史",
    "middle_school_mathematics": "初中数学",
    "middle_school_physics": "初中物理",
    "middle_school_politics": "初中政治",
    "modern_chinese_history": "近代史纲要",
    "operating_system": "操作系统",
    "physician": "医师资格",
    "plant_protection": "植物保护",
    "probability_and_statistics": "概率统计",
    "professional_tour_guide": "导游资格",
    "sports_science": "体育学",
    "tax_accountant": "税务师",
    "teacher_qualification": "教师资格",
    "urban_and_rural_planner": "注册城乡规划师",
    "veterinary_medicine": "兽医学",
}
NEXT = re.compile(r"\n\n(?:.+\n){1,20}?A\. .*\nB\. .*\nC\. .*\nD\. .*\n答案：")
"""A further question. It has no label, and to stop at "答案：" would cut answers short."""


def letter(reply: str, options: str = "ABCD") -> str:
    """Return a reply's letter; a question in it that nothing answered before is restated."""
    read = postprocessors.get("first-option")
    return str(read(NEXT.split(reply, maxsplit=1)[0], options) or read(reply, options))


@register_benchmark(
    BenchmarkMeta(
        name="ceval",
        pretty_name="C-Eval",
        description="Chinese exams in 52 subjects from middle school to professional licences.",
        description_zh="五十二个学科的中文考试题，从初中到职业资格。",
        tags=[Tags.KNOWLEDGE, Tags.EXAM, Tags.MULTIPLE_CHOICE, Tags.CHINESE],
        paper_url="https://arxiv.org/abs/2305.08322",
        license="CC-BY-NC-SA-4.0",
        dataset_id="ceval/ceval-exam",
        subset_list=[*SUBJECTS],
        eval_split="val",
        train_split="dev",
        few_shot_num=5,
        prompt_header="以下是中国关于{subject}考试的单项选择题，请选出其中的正确答案。\n\n",
        prompt_template="{question}\n{choices}\n答案：",
        choice_template="{letter}",
        eval_cfg=dict(pred_postprocessor=letter),
        generation=dict(max_tokens=256, temperature=0.0),
    )
)
class TestCEval(MultiChoiceAdapter):
    """One subset a subject."""

    def record_to_sample(self, record: dict[str, Any]) -> Sample:
        """Return the question; ``answer`` is empty where it is hidden."""
        return Sample(
            input=record["question"].strip(),
            choices=[record[letter] for letter in "ABCD"],
            target=record["answer"],
        )

    def finish_sample(self, sample: Sample, subset: str) -> Sample:
        """Note the subject, which the header names."""
        return replace(super().finish_sample(sample, subset), subset_key=subset)

    def template_values(self, sample: Sample) -> dict[str, str]:
        """Add ``{subject}``, in Chinese."""
        return {**super().template_values(sample), "subject": SUBJECTS[sample.subset_key or ""]}

    def sample_to_fewshot(self, sample: Sample) -> str:
        """Return a question with its letter, without a space between."""
        return f"{self.format_prompt_template(sample)}{sample.target}"
