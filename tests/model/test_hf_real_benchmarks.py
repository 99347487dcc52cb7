"""Shipped benchmarks with a real model, against lm-evaluation-harness."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks.test_arc import TestARCEasy as ARCEasy
from benchmarks.test_bbh import TestBBH as BigBenchHard
from benchmarks.test_truthfulqa import TestTruthfulQAMC1 as TruthfulQAMC1
from benchmarks.test_truthfulqa import TestTruthfulQAMC2 as TruthfulQAMC2
from pytest_evalplug.dataset.adapter import AdapterOptions, DefaultDataAdapter
from pytest_evalplug.inference.inferencers import LLInferencer
from pytest_evalplug.model.base import GenerationParams
from pytest_evalplug.model.hf import HFBackend
from pytest_evalplug.types import Detail, ModelOutput, Sample, TaskState

pytestmark = pytest.mark.real_model

THEIRS: dict[str, list[Any]] = json.loads(
    Path(__file__).with_name("lm_eval_benchmarks.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize(
    ("cls", "subset", "metric"),
    [
        (ARCEasy, "ARC-Easy", "accuracy"),
        (TruthfulQAMC1, "multiple_choice", "accuracy"),
        (TruthfulQAMC2, "multiple_choice", "mc2"),
        (BigBenchHard, "navigate", "accuracy"),
    ],
)
def test_scores_are_those_of_lm_evaluation_harness(
    cls: type[DefaultDataAdapter],
    subset: str,
    metric: str,
    smollm2_backend: HFBackend,
    data_dir: Path,
) -> None:
    name = cls.__evalplug_meta__.name
    theirs = THEIRS[name if name in THEIRS else f"{name}-{subset}"][:12]
    # the order of the choices as in the data, to compare one by one
    adapter = cls(
        benchmark_meta=cls.__evalplug_meta__.override({"shuffle_choices": False}),
        options=AdapterOptions(data_dirs=(data_dir,), eval_mode="ll"),
    )
    every = adapter.samples(subset)
    samples = [every[row] for row, _, _ in theirs]
    scores = []
    outputs = ask(adapter, samples, subset, smollm2_backend)
    for sample, output, (_, logprobs, score) in zip(samples, outputs, theirs, strict=True):
        assert output.extra["logprobs"] == pytest.approx(logprobs, abs=2e-3), sample.index
        scores.append(judged(adapter, sample, subset, output).score[metric])
        assert scores[-1] == pytest.approx(score, abs=1e-3), sample.index
    assert 0 < sum(scores) < len(scores)


def ask(
    adapter: DefaultDataAdapter, samples: Sequence[Sample], subset: str, backend: HFBackend
) -> list[ModelOutput]:
    async def call(method: str, *args: Any) -> Any:
        return getattr(backend, method)(*args)

    shots = 1 if adapter.name == "bbh" else None
    inferencer = LLInferencer()
    payloads = [inferencer.build(adapter, sample, subset, shots) for sample in samples]
    results = asyncio.run(inferencer.infer(call, payloads, GenerationParams()))
    outputs = [result for result in results if isinstance(result, ModelOutput)]
    assert len(outputs) == len(results), results
    return outputs


def judged(adapter: DefaultDataAdapter, sample: Sample, subset: str, output: ModelOutput) -> Detail:
    state = TaskState(
        model="smollm2",
        sample=sample,
        messages=[],
        output=output,
        sample_id=str(sample.id),
        group_id=sample.index,
    )
    record = {
        "index": sample.index,
        "sample_id": str(sample.id),
        "subset": subset,
        "prediction": output.completion,
        "gold": sample.target,
        **output.extra,
    }
    return adapter.scorer.detail(state, record)
