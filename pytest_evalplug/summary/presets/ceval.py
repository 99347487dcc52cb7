"""C-Eval by discipline, and the eight subjects that its authors call hard.

Source: the subject mapping and the README of hkust-nlp/ceval.
"""

from __future__ import annotations

from typing import Any

# fmt: off
DISCIPLINES = {
    "ceval-stem": [
        "computer_network", "operating_system", "computer_architecture", "college_programming",
        "college_physics", "college_chemistry", "advanced_mathematics",
        "probability_and_statistics", "discrete_mathematics", "electrical_engineer",
        "metrology_engineer", "high_school_mathematics", "high_school_physics",
        "high_school_chemistry", "high_school_biology", "middle_school_mathematics",
        "middle_school_biology", "middle_school_physics", "middle_school_chemistry",
        "veterinary_medicine",
    ],
    "ceval-social-science": [
        "college_economics", "business_administration", "marxism", "mao_zedong_thought",
        "education_science", "teacher_qualification", "high_school_politics",
        "high_school_geography", "middle_school_politics", "middle_school_geography",
    ],
    "ceval-humanities": [
        "modern_chinese_history", "ideological_and_moral_cultivation", "logic", "law",
        "chinese_language_and_literature", "art_studies", "professional_tour_guide",
        "legal_professional", "high_school_chinese", "high_school_history",
        "middle_school_history",
    ],
    "ceval-other": [
        "civil_servant", "sports_science", "plant_protection", "basic_medicine",
        "clinical_medicine", "urban_and_rural_planner", "accountant", "fire_engineer",
        "environmental_impact_assessment_engineer", "tax_accountant", "physician",
    ],
}
HARD = [
    "advanced_mathematics", "discrete_mathematics", "probability_and_statistics",
    "college_chemistry", "college_physics", "high_school_mathematics", "high_school_chemistry",
    "high_school_physics",
]
# fmt: on

summarizer: dict[str, Any] = dict(
    dataset_abbrs=[
        ["ceval", "naive_average"],
        *([name, "naive_average"] for name in (*DISCIPLINES, "ceval-hard")),
    ],
    summary_groups=[
        dict(name=name, subsets=[f"ceval-{subject}" for subject in subjects])
        for name, subjects in (DISCIPLINES | {"ceval-hard": HARD}).items()
    ],
)
