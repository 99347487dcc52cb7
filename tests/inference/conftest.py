"""A benchmark of a few samples, and a backend that notes down its batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_evalplug import BenchmarkMeta, DefaultDataAdapter, Sample
from pytest_evalplug.dataset.adapter import AdapterOptions
from pytest_evalplug.errors import ModelError
from pytest_evalplug.inference.case import Case
from pytest_evalplug.model.base import Capability, Choice, GenerationParams, SequenceLoss
from pytest_evalplug.run.directory import RunDirectory
from pytest_evalplug.run.predictions import PredictionStore
from pytest_evalplug.types import LoglikelihoodQuery, ModelOutput, Prompt


class Quiz(DefaultDataAdapter):
    """Asks ``ask 0``, ``ask 1`` and so on."""

    def record_to_sample(self, record: dict[str, Any]) -> Sample:
        return Sample(input=record["q"], target=record["a"], choices=record.get("choices"))


class Backend:
    """Echoes; ``fail`` in a prompt is a ModelError in its place."""

    name = "echo"
    capabilities: frozenset[Capability] = frozenset({"generate", "loglikelihood"})

    def __init__(self, batch_size: int = 1, concurrency: int = 1) -> None:
        self.batch_size = batch_size
        self.concurrency = concurrency
        self.batches: list[list[Any]] = []

    def generate(
        self, prompts: Sequence[Prompt], params: GenerationParams
    ) -> Sequence[ModelOutput | str | ModelError]:
        self.batches.append(list(prompts))
        return [ModelError("no") if "fail" in str(p) else f"<{p}>" for p in prompts]

    def loglikelihood(self, queries: Sequence[LoglikelihoodQuery]) -> list[list[Choice]]:
        return [[Choice(-float(len(c)), len(c)) for c in q.continuations] for q in queries]

    def sequence_loss(self, texts: Sequence[str]) -> list[SequenceLoss]:
        return [SequenceLoss(float(len(text)), 2) for text in texts]


@pytest.fixture
def make_cases(tmp_path: Path) -> Callable[..., list[Case]]:
    """Return what makes the cases of some questions."""

    def make(*questions: str, cls: type[DefaultDataAdapter] = Quiz, **meta: Any) -> list[Case]:
        import json

        folder = tmp_path / "data" / "quiz"
        folder.mkdir(parents=True, exist_ok=True)
        rows = [{"q": q, "a": "x", "choices": ["one", "three"]} for q in questions]
        (folder / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        adapter = cls(
            benchmark_meta=BenchmarkMeta(name="quiz", **meta),
            options=AdapterOptions(data_dirs=(tmp_path / "data",)),
        )
        return [
            Case(adapter, "default", sample, f"default-{position}", repeat)
            for position, sample in enumerate(adapter.samples("default"))
            for repeat in range(adapter.repeats)
        ]

    return make


@pytest.fixture
def store(tmp_path: Path) -> Iterator[PredictionStore]:
    """Return an empty store."""
    with RunDirectory.create(tmp_path / "runs") as run:
        store = PredictionStore(run)
        yield store
        store.close()
