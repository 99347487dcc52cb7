# ruff: noqa: D102 - dataset/base.py documents the methods
"""What scoring needs of a benchmark's adapter."""

from __future__ import annotations

__all__ = ["Adapter"]

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from pytest_evalplug.types import AggScore, SampleScore, Score, TaskState

if TYPE_CHECKING:
    from pytest_evalplug.evaluation.judge.judge import Judge


class Adapter(Protocol):
    """What scoring needs of a benchmark's adapter."""

    name: str
    eval_cfg: Mapping[str, Any]
    metric_list: Sequence[str]
    threshold: float | None
    k: Sequence[int]
    judge: Judge | None

    def overrides(self, method: str) -> bool: ...
    def calculate_metrics(self, task_state: TaskState) -> SampleScore: ...
    def filter_prediction(self, prediction: Any, task_state: TaskState) -> Any: ...
    def extract_answer(self, prediction: Any, task_state: TaskState) -> Any: ...
    def match_score(
        self,
        original_prediction: Any,
        filtered_prediction: Any,
        reference: Any,
        task_state: TaskState,
    ) -> Score: ...
    def llm_match_score(
        self,
        original_prediction: Any,
        filtered_prediction: Any,
        reference: Any,
        task_state: TaskState,
    ) -> Score: ...
    def aggregate_scores(self, sample_scores: list[SampleScore]) -> list[AggScore]: ...

    @property
    def has_subsets(self) -> bool: ...
