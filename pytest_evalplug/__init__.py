"""LLM benchmarks as pytest test suites: what a benchmark's author imports."""

from __future__ import annotations

__all__ = [
    "AggScore",
    "BaseEvaluator",
    "BenchmarkMeta",
    "ChatMessage",
    "DataAdapter",
    "DatasetDict",
    "DefaultDataAdapter",
    "LoglikelihoodQuery",
    "ModelOutput",
    "MultiChoiceAdapter",
    "NotApplicable",
    "Report",
    "Sample",
    "SampleScore",
    "Score",
    "Tags",
    "TaskState",
    "evaluators",
    "postprocessors",
    "register_benchmark",
]

from pytest_evalplug.dataset.adapter import DataAdapter, DefaultDataAdapter
from pytest_evalplug.dataset.dataset_dict import DatasetDict
from pytest_evalplug.dataset.meta import BenchmarkMeta, Tags, register_benchmark
from pytest_evalplug.dataset.multi_choice import MultiChoiceAdapter
from pytest_evalplug.errors import NotApplicable
from pytest_evalplug.evaluation.base import BaseEvaluator
from pytest_evalplug.evaluation.registry import evaluators, postprocessors
from pytest_evalplug.types import (
    AggScore,
    ChatMessage,
    LoglikelihoodQuery,
    ModelOutput,
    Report,
    Sample,
    SampleScore,
    Score,
    TaskState,
)
