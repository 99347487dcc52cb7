"""What ``eval_cfg`` may refer to by name; the built-in entries load when first asked for."""

from __future__ import annotations

__all__ = ["evaluators", "postprocessors"]

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from pytest_evalplug.registry import Registry

if TYPE_CHECKING:
    from pytest_evalplug.evaluation.base import BaseEvaluator

T = TypeVar("T")


class _BuiltinRegistry(Registry[T]):
    """A registry whose built-in entries are registered by modules that load when asked for."""

    def __init__(self, kind: str, package: str, modules: dict[str, tuple[str, ...]]) -> None:
        super().__init__(kind)
        self._package = f"{__package__}.{package}"
        self._homes = {name: module for module, names in modules.items() for name in names}

    def add(self, name: str, entry: T) -> None:
        if not getattr(entry, "__module__", "").startswith(f"{self._package}."):
            self._load(name)  # so that of two equal names it is not the built-in that comes second
        super().add(name, entry)

    def get(self, name: str, *, where: str = "") -> T:
        self._load(name)
        return super().get(name, where=where)

    def __contains__(self, name: object) -> bool:
        return name in self._homes or super().__contains__(name)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*self._homes, *self._entries]))

    def _load(self, name: str) -> None:
        if name in self._homes and name not in self._entries:
            import_module(f"{self._package}.{self._homes[name]}")


postprocessors: Registry[Callable[..., Any]] = _BuiltinRegistry(
    "postprocessor",
    "postprocess",
    {
        "bbh": ("bbh-paper", "bbh-mcq", "bbh-freeform"),
        "capital": ("first-capital", "last-capital", "first-capital-multi", "multiple-select"),
        "code": ("code",),
        "json_field": ("json-field",),
        "lm_eval": ("lm-eval-gsm8k-strict", "lm-eval-gsm8k-flexible", "lm-eval-gsm8k-compared"),
        "marker": ("after", "boxed", "xml-tag"),
        "math_answer": ("math-answer",),
        "none": ("none",),
        "number": ("first-number", "last-number", "gsm8k"),
        "opencompass": (
            *("opencompass-general", "opencompass-general_cn", "opencompass-gsm8k"),
            *("opencompass-first-capital", "opencompass-first-capital-multi"),
            *("opencompass-last-capital", "opencompass-first-option"),
            *("opencompass-bbh-mcq", "opencompass-bbh-freeform"),
        ),
        "option": ("first-option", "last-option"),
        "regex": ("regex", "match_answer_pattern"),
        "text": ("general", "general_cn"),
        "think": ("think",),
    },
)
"""Functions ``(text, **options) -> value``."""

evaluators: Registry[type[BaseEvaluator]] = _BuiltinRegistry(
    "evaluator",
    "evaluators",
    {
        "accuracy": ("accuracy", "acc", "AccEvaluator", "number", "NumberEvaluator"),
        "auc": ("auc_roc", "AUCROCEvaluator"),
        "bleu": ("bleu", "BleuEvaluator", "chrf", "ChrfEvaluator"),
        "bpc": ("bpc", "BPCEvaluator"),
        "cascade": ("cascade", "CascadeEvaluator"),
        "choice_mass": ("mc2", "ChoiceMassEvaluator"),
        "circular": ("circular", "CircularEvaluator"),
        "code": ("humaneval", "HumanEvalEvaluator", "HumanevalEvaluator", "mbpp", "MBPPEvaluator"),
        "exact_match": ("exact_match", "em", "EMEvaluator"),
        "math": ("math", "MathEvaluator", "MATHVerifyEvaluator"),
        "f1": ("f1", "F1Evaluator"),
        "ifeval": ("ifeval", "IFEvaluator", "IFEvalEvaluator"),
        "includes": ("includes", "IncludesEvaluator"),
        "llm": (
            *("llm", "GenericLLMEvaluator", "rubric", "RubricEvaluator"),
            *("pairwise", "PairwiseEvaluator"),
        ),
        "matthews": ("matthews_correlation", "mcc", "MccEvaluator"),
        "perplexity": (
            *("perplexity", "PerplexityEvaluator"),
            *("text_perplexity", "TextPerplexityEvaluator"),
        ),
        "rouge": ("rouge", "RougeEvaluator", "rouge_l", "RougeLEvaluator"),
    },
)
"""Subclasses of BaseEvaluator."""
