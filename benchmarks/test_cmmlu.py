"""CMMLU: Chinese multiple-choice questions from 67 subjects, some of them particular to China.

Paper     Li et al. 2023, "CMMLU: Measuring massive multitask language understanding in Chinese",
          https://arxiv.org/abs/2306.09212
Licence   CC BY-NC-SA 4.0
Data      hub haonan-li/cmmlu (whose loading script is not run: where the hub has no tables, put
          them in <data_dir>/cmmlu/<subject>/test.csv), one subset a subject: test over 100 each,
          dev 5 each (the shots). Not tested on the real data here
Prompt    the published one, answer only: a header that names the subject, 5 shots in the order
          of dev, "A. choice" lines and the letter after the colon, without a space
Metric    accuracy: of the letter in the reply (gen), of the likeliest letter (ppl, ll)
Score     5 shots, subjects counting the same: GPT-4 70.95, ChatGPT 55.51, LLaMA-65B 39.80
          (README_EN of haonan-li/CMMLU)
Differs   a reply without a letter is wrong: the authors' script draws one at random. The preset
          cmmlu sums up STEM, humanities, social science, other and what is particular to China
"""

# ruff: noqa: RUF001 - full-width forms are the prompt here

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pytest_evalplug import BenchmarkMeta, MultiChoiceAdapter, Sample, Tags, register_benchmark

SUBJECTS = {
    "agronomy": "农学",
    "anatomy": "解剖学",
    "ancient_chinese": "古汉语",
    "arts": "艺术学",
    "astronomy": "天文学",
    "business_ethics": "商业伦理",
    "chinese_civil_service_exam": "中国公务员考试",
    "chinese_driving_rule": "中国驾驶规则",
    "chinese_food_culture": "中国饮食文化",
    "chinese_foreign_policy": "中国外交政策",
    "chinese_history": "中国历史",
    "chinese_literature": "中国文学",
    "chinese_teacher_qualification": "中国教师资格",
    "clinical_knowledge": "临床知识",
    "college_actuarial_science": "大学精算学",
    "college_education": "大学教育学",
    "college_engineering_hydrology": "大学工程水文学",
    "college_law": "大学法律",
    "college_mathematics": "大学数学",
    "college_medical_statistics": "大学医学统计",
    "college_medicine": "大学医学",
    "computer_science": "计算机科学",
    "computer_security": "计算机安全",
    "conceptual_physics": "概念物理学",
    "construction_project_management": "建设工程管理",
    "economics": "经济学",
    "education": "教育学",
    "electrical_engineering": "电气工程",
    "elementary_chinese": "小学语文",
    "elementary_commonsense": "小学常识",
    "elementary_information_and_technology": "小学信息技术",
    "elementary_mathematics": "初等数学",
    "ethnology": "民族学",
    "food_science": "食品科学",
    "genetics": "遗传学",
    "global_facts": "全球事实",
    "high_school_biology": "高中生物",
    "high_school_chemistry": "高中化学",
    "high_school_geography": "高中地理",
    "high_school_mathematics": "高中数学",
    "high_school_physics": "高中物理学",
    "high_school_politics": "高中政治",
    "human_sexuality": "人类性行为",
    "international_law": "国际法学",
    "journalism": "新闻学",
    "jurisprudence": "法理学",
    "legal_and_moral_basis": "法律与道德基础",
    "logical": "逻辑学",
    "machine_learning": "机器学习",
    "management": "管理学",
    "marketing": "市场营销",
    "marxist_theory": "马克思主义理论",
    "modern_chinese": "现代汉语",
    "nutrition": "营养学",
    "philosophy": "哲学",
    "professional_accounting": "专业会计",
    "professional_law": "专业法学",
    "professional_medicine": "专业医学",
    "professional_psychology": "专业心理学",
    "public_relations": "公共关系",
    "security_study": "安全研究",
    "sociology": "社会学",
    "sports_science": "体育学",
    "traditional_chinese_medicine": "中医中药",
    "virology": "病毒学",
    "world_history": "世界历史",
    "world_religions": "世界宗教",
}


@register_benchmark(
    BenchmarkMeta(
        name="cmmlu",
        pretty_name="CMMLU",
        description="Knowledge in Chinese, from school subjects to driving rules and food.",
        description_zh="六十七个学科的中文选择题，部分内容为中国特有。",
        tags=[Tags.KNOWLEDGE, Tags.EXAM, Tags.MULTIPLE_CHOICE, Tags.CHINESE],
        paper_url="https://arxiv.org/abs/2306.09212",
        license="CC-BY-NC-SA-4.0",
        dataset_id="haonan-li/cmmlu",
        subset_list=[*SUBJECTS],
        train_split="dev",
        few_shot_num=5,
        prompt_header="以下是关于{subject}的单项选择题，请直接给出正确答案的选项。\n\n",
        prompt_template="题目：{question}\n{choices}\n答案是：",
        choice_template="{letter}",
        generation=dict(max_tokens=256, temperature=0.0, stop=["\n题目："]),
    )
)
class TestCMMLU(MultiChoiceAdapter):
    """One subset a subject."""

    def record_to_sample(self, record: dict[str, Any]) -> Sample:
        """Return the question."""
        return Sample(
            input=record["Question"],
            choices=[record[letter] for letter in "ABCD"],
            target=record["Answer"],
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
