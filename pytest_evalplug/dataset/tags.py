"""The built-in tags; light, as every pytest run imports them to register their marks."""

from __future__ import annotations

__all__ = ["Tags"]


class Tags:
    """The built-in tags; each has a mark ``tag_<slug>`` (``-m tag_math``)."""

    CHINESE = "Chinese"
    CODING = "Coding"
    COMMONSENSE = "Commonsense"
    CUSTOM = "Custom"
    EXAM = "Exam"
    INSTRUCTION_FOLLOWING = "Instruction-Following"
    KNOWLEDGE = "Knowledge"
    LANGUAGE_MODELING = "Language-Modeling"
    LONG_CONTEXT = "Long-Context"
    MATH = "Math"
    MULTILINGUAL = "Multilingual"
    MULTIPLE_CHOICE = "MCQ"
    READING = "Reading"
    REASONING = "Reasoning"
    SUMMARIZATION = "Summarization"
    TRANSLATION = "Translation"
    TRUTHFULNESS = "Truthfulness"
