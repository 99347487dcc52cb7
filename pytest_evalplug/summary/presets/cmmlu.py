"""CMMLU by discipline, and the subjects that are particular to China, which lie across them.

Source: src/categories.py of haonan-li/CMMLU.
"""

from __future__ import annotations

from typing import Any

# fmt: off
DISCIPLINES = {
    "cmmlu-stem": [
        "anatomy", "astronomy", "college_actuarial_science", "college_engineering_hydrology",
        "college_mathematics", "college_medical_statistics", "computer_science",
        "conceptual_physics", "electrical_engineering", "elementary_mathematics", "genetics",
        "high_school_biology", "high_school_chemistry", "high_school_mathematics",
        "high_school_physics", "machine_learning", "virology",
    ],
    "cmmlu-humanities": [
        "arts", "chinese_history", "chinese_literature", "college_law", "global_facts",
        "international_law", "jurisprudence", "logical", "marxist_theory", "philosophy",
        "professional_law", "world_history", "world_religions",
    ],
    "cmmlu-social-science": [
        "ancient_chinese", "business_ethics", "chinese_civil_service_exam",
        "chinese_food_culture", "chinese_foreign_policy", "chinese_teacher_qualification",
        "college_education", "economics", "education", "elementary_chinese", "ethnology",
        "high_school_geography", "high_school_politics", "journalism", "management", "marketing",
        "modern_chinese", "professional_accounting", "professional_psychology",
        "public_relations", "security_study", "sociology",
    ],
    "cmmlu-other": [
        "agronomy", "chinese_driving_rule", "clinical_knowledge", "college_medicine",
        "computer_security", "construction_project_management", "elementary_commonsense",
        "elementary_information_and_technology", "food_science", "human_sexuality",
        "legal_and_moral_basis", "nutrition", "professional_medicine", "sports_science",
        "traditional_chinese_medicine",
    ],
}
CHINA_SPECIFIC = [
    "ancient_chinese", "chinese_civil_service_exam", "chinese_driving_rule",
    "chinese_food_culture", "chinese_foreign_policy", "chinese_history", "chinese_literature",
    "chinese_teacher_qualification", "construction_project_management", "elementary_chinese",
    "elementary_commonsense", "ethnology", "high_school_politics", "modern_chinese",
    "traditional_chinese_medicine",
]
# fmt: on

summarizer: dict[str, Any] = dict(
    dataset_abbrs=[
        ["cmmlu", "naive_average"],
        *([name, "naive_average"] for name in (*DISCIPLINES, "cmmlu-china-specific")),
    ],
    summary_groups=[
        dict(name=name, subsets=[f"cmmlu-{subject}" for subject in subjects])
        for name, subjects in (DISCIPLINES | {"cmmlu-china-specific": CHINA_SPECIFIC}).items()
    ],
)
