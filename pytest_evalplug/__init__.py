"""LLM benchmarks as pytest test suites: what a benchmark's author imports."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__all__ = [
    "AggScore",
    "BaseEvaluator",
    "BenchmarkMeta",
    "ChatMessage",
    "CircularSummarizer",
    "DataAdapter",
    "DatasetDict",
    "DefaultDataAdapter",
    "DefaultSummarizer",
    "EvalplugError",
    "Evaluation",
    "GenerationParams",
    "LoglikelihoodQuery",
    "ModelBackend",
    "ModelError",
    "ModelOutput",
    "MultiChoiceAdapter",
    "MultiFacetedSummarizer",
    "NotApplicable",
    "Prompt",
    "Report",
    "Sample",
    "SampleScore",
    "Score",
    "Summarizer",
    "Tags",
    "TaskState",
    "WrongAnswer",
    "evaluators",
    "postprocessors",
    "register_benchmark",
]

if TYPE_CHECKING:
    from pytest_evalplug.dataset.adapter import DefaultDataAdapter
    from pytest_evalplug.dataset.base import DataAdapter
    from pytest_evalplug.dataset.dataset_dict import DatasetDict
    from pytest_evalplug.dataset.meta import BenchmarkMeta, register_benchmark
    from pytest_evalplug.dataset.multi_choice import MultiChoiceAdapter
    from pytest_evalplug.dataset.tags import Tags
    from pytest_evalplug.errors import EvalplugError, ModelError, NotApplicable, WrongAnswer
    from pytest_evalplug.evaluation.base import BaseEvaluator
    from pytest_evalplug.evaluation.registry import evaluators, postprocessors
    from pytest_evalplug.model.base import GenerationParams, ModelBackend
    from pytest_evalplug.summary.summarizer import DefaultSummarizer, Summarizer
    from pytest_evalplug.summary.variants import CircularSummarizer, MultiFacetedSummarizer
    from pytest_evalplug.types import (
        AggScore,
        ChatMessage,
        LoglikelihoodQuery,
        ModelOutput,
        Prompt,
        Report,
        Sample,
        SampleScore,
        Score,
        TaskState,
    )
    from pytest_evalplug.verdicts import Evaluation

_HOMES = {
    "dataset.adapter": ("DefaultDataAdapter",),
    "dataset.base": ("DataAdapter",),
    "dataset.dataset_dict": ("DatasetDict",),
    "dataset.meta": ("BenchmarkMeta", "register_benchmark"),
    "dataset.multi_choice": ("MultiChoiceAdapter",),
    "dataset.tags": ("Tags",),
    "errors": ("EvalplugError", "ModelError", "NotApplicable", "WrongAnswer"),
    "evaluation.base": ("BaseEvaluator",),
    "evaluation.registry": ("evaluators", "postprocessors"),
    "model.base": ("GenerationParams", "ModelBackend"),
    "summary.summarizer": ("DefaultSummarizer", "Summarizer"),
    "summary.variants": ("CircularSummarizer", "MultiFacetedSummarizer"),
    "verdicts": ("Evaluation",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import what is asked for: every pytest run imports this package, few evaluate."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f"{__name__}.{_HOME_OF.get(name, 'types')}")
    return getattr(module, name)
