"""The data structures that flow from a record to a metric."""

from __future__ import annotations

__all__ = [
    "AggScore",
    "ChatMessage",
    "Detail",
    "LoglikelihoodQuery",
    "ModelOutput",
    "Prompt",
    "Report",
    "Sample",
    "SampleScore",
    "Score",
    "TaskState",
]

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypedDict


class _ChatMessageBase(TypedDict):
    role: str
    content: Any


class ChatMessage(_ChatMessageBase, total=False):
    """One message in the OpenAI form: a plain dict with ``role`` and ``content``."""

    name: str
    tool_calls: list[dict[str, Any]]
    tool_call_id: str


Prompt: TypeAlias = str | list[ChatMessage]
"""What a model is asked: plain text, or a conversation."""


@dataclass(frozen=True, slots=True)
class LoglikelihoodQuery:
    """How probable is each continuation after the context?

    With ``contexts`` each continuation has one of its own, and ``context`` only says what is
    asked; a model never gets such a query, but one for each context (:meth:`each_context`).
    """

    context: Prompt
    continuations: tuple[str, ...]
    contexts: tuple[Prompt, ...] = ()

    def each_context(self) -> list[LoglikelihoodQuery]:
        """Return what a model is asked: this query, or one for each of its contexts."""
        if not self.contexts:
            return [self]
        pairs = zip(self.contexts, self.continuations, strict=True)
        return [LoglikelihoodQuery(context, (continuation,)) for context, continuation in pairs]


@dataclass(slots=True)
class Sample:
    """One thing to ask a model.

    ``target`` is the reference: a text, a choice letter, or a list of them (several right
    choices, several accepted answers). ``0``, ``False`` and ``''`` are references too.
    """

    input: Prompt
    target: Any
    choices: list[str] | None = None
    subset_key: str | None = None
    metadata: dict[str, Any] | None = None
    tools: list[Any] | None = None
    id: str | int | None = None
    index: str = ""
    """The row number in the original split (``12``; ``12.1`` for a row's second Sample)."""


@dataclass(slots=True)
class ModelOutput:
    """What a backend returned for one prompt, before any postprocessing."""

    completion: str
    message: ChatMessage | None = None
    finish_reason: str | None = None
    reasoning: str | None = None
    usage: Mapping[str, int] | None = None
    logprobs: Any = None
    extra: dict[str, Any] = field(default_factory=dict)
    """Further columns for the prediction file (``ppl``, ``choices``, ``pred_label``, ...)."""


@dataclass(slots=True)
class TaskState:
    """One sample on its way from prompt to score."""

    model: str
    sample: Sample
    messages: list[ChatMessage]
    output: ModelOutput
    completed: bool = True
    sample_id: str | None = None
    group_id: str | None = None
    metadata: dict[str, Any] | None = None


@dataclass(slots=True)
class Detail:
    """One sample's verdict, as it stands in ``details`` of a results file.

    ``correct`` is ``None`` where the metric has no verdict; ``error`` says why a sample could
    not be measured (then ``score`` is empty). ``score`` is on a 0-1 scale.
    """

    index: str
    sample_id: str
    subset: str
    pred: Any = None
    answer: Any = None
    correct: bool | None = None
    score: dict[str, float] = field(default_factory=dict)
    error: str | None = None
    metadata: dict[str, Any] | None = None

    def to_wire(self) -> dict[str, Any]:
        """Return a dict for JSON, with ``metadata`` and ``error`` only where they say something."""
        wire = {
            "index": self.index,
            "sample_id": self.sample_id,
            "subset": self.subset,
            "pred": self.pred,
            "answer": self.answer,
            "correct": self.correct,
            "score": self.score,
        }
        if self.error is not None:
            wire["error"] = self.error
        if self.metadata is not None:
            wire["metadata"] = self.metadata
        return wire

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> Detail:
        """Rebuild a Detail from :meth:`to_wire`; unknown keys are ignored."""
        return cls(**{name: wire[name] for name in cls.__slots__ if name in wire})


@dataclass(slots=True)
class Score:
    """One sample's metrics on a 0-1 scale, with the answer they were computed from."""

    value: dict[str, float]
    extracted_prediction: Any = None
    prediction: Any = None
    metadata: dict[str, Any] | None = None


@dataclass(slots=True)
class SampleScore:
    """A Score and the sample it belongs to; repeats of a sample share ``group_id``."""

    score: Score
    sample_id: str | None = None
    group_id: str | None = None
    sample_metadata: dict[str, Any] | None = None


@dataclass(slots=True)
class AggScore:
    """One metric over a subset, on the metric's own scale (percent for accuracy)."""

    metric: str
    value: float
    subset: str
    num_samples: int
    agg_method: str = "mean"
    metadata: dict[str, Any] | None = None


@dataclass(slots=True)
class Report:
    """All metrics of one model on one benchmark."""

    benchmark: str
    model: str
    scores: Sequence[AggScore]
    metadata: dict[str, Any] = field(default_factory=dict)
