"""Runs on the disk, written as a session writes them, with whatever replies a test wants."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_evalplug.run.directory import RunDirectory
from pytest_evalplug.run.predictions import PredictionStore
from pytest_evalplug.run.results import ResultFile, dataset_name
from pytest_evalplug.run.saved_run import open_saved
from pytest_evalplug.summary.result import build_result
from pytest_evalplug.summary.rows import DatasetRef
from pytest_evalplug.summary.run_table import summarize
from pytest_evalplug.types import AggScore, Detail

HEADER = "Question: what is 1 + 1?\nAnswer: 2\n\n" * 4


@dataclass(frozen=True)
class Given:
    """One sample of one model: what it was asked, what it replied, what came of that."""

    id: str
    reply: Any = "It is 4."
    prompt: Any = None
    pred: Any = "4"
    answer: Any = "4"
    correct: bool | None = True
    error: str | None = None
    metadata: dict[str, Any] | None = None
    more: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the prediction record."""

    def detail(self, index: int, subset: str) -> Detail:
        score = {} if self.error else {"accuracy": float(self.correct or 0)}
        return Detail(
            str(index),
            self.id,
            subset,
            pred=self.pred,
            answer=self.answer,
            correct=None if self.error else self.correct,
            score=score,
            error=self.error,
            metadata=self.metadata,
        )

    def record(self, index: int, subset: str) -> dict[str, Any]:
        prompt = f"{HEADER}Question: {self.id}?\nAnswer:" if self.prompt is None else self.prompt
        record = {
            "index": str(index),
            "sample_id": self.id,
            "subset": subset,
            "origin_prompt": prompt,
            "gold": f"#### {self.answer}",
            "key": {"model": "m", "prompt": "p", "params": "q", "sample": "s"},
            **self.more,
        }
        return record if self.error else {**record, "prediction": self.reply}


Samples = Mapping[tuple[str, str], Sequence[Given]]
"""(model, subset) -> samples."""


def make_run(work_dir: Path, samples: Samples, *, benchmark: str = "quiz") -> RunDirectory:
    """Write a finished run."""
    run = RunDirectory.create(work_dir)
    store = PredictionStore(run)
    subsets = tuple(dict.fromkeys(subset for _, subset in samples))
    for (model, subset), given in samples.items():
        dataset = dataset_name(benchmark, subset, several=len(subsets) > 1)
        details = [sample.detail(i, subset) for i, sample in enumerate(given)]
        for i, sample in enumerate(given):
            store.put(model, dataset, sample.record(i, subset))
        result(model, dataset, benchmark, subset, details).write(run)
    store.merge()
    models = list(dict.fromkeys(model for model, _ in samples))
    summarize(run, models, [DatasetRef(benchmark, subset, subsets) for subset in subsets])
    run.close()
    return run


def result(
    model: str, dataset: str, benchmark: str, subset: str, details: Sequence[Detail]
) -> ResultFile:
    scored = [detail for detail in details if detail.error is None]
    right = sum(bool(detail.correct) for detail in scored)
    value = 100 * right / len(scored) if scored else 0.0
    metric = AggScore("accuracy", value, subset, len(scored), metadata={"stderr": 2.5})
    return build_result(
        [metric] if scored else [],
        details,
        model=model,
        dataset=dataset,
        benchmark=benchmark,
        subset=subset,
        version="abc123",
        mode="gen",
    )


def embedded(page: str) -> dict[str, Any]:
    """Return the blocks that a page carries, decoded."""
    found = re.findall(r'<script type="application/gzip" id="data:([\w/]+)">([^<]*)</script>', page)
    return {name: json.loads(unpacked(base64.b64decode(text))) for name, text in found}


def unpacked(data: bytes) -> bytes:
    return zlib.decompress(data, 16 + zlib.MAX_WBITS)


def opened(run: RunDirectory) -> Any:
    return open_saved(str(run.path), run.path.parent)
