"""Prediction records: what one line of the journal and one entry of the prediction file hold."""

from __future__ import annotations

__all__ = ["Record", "build_record", "generation_params", "prediction_key", "task_state"]

from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import lru_cache
from typing import Any, TypeAlias

from pytest_evalplug.inference.case import Case
from pytest_evalplug.inference.inferencers import Inferencer, Payload
from pytest_evalplug.model.base import GenerationParams
from pytest_evalplug.model.spec import ModelInfo
from pytest_evalplug.run.jsonio import digest
from pytest_evalplug.run.predictions import PredictionKey
from pytest_evalplug.types import ChatMessage, LoglikelihoodQuery, ModelOutput, TaskState

Record: TypeAlias = dict[str, Any]


def generation_params(case: Case, model: ModelInfo) -> GenerationParams:
    """Return how this case is generated: the benchmark's settings, then the model's own.

    Repeats of a sampled generation get seeds of their own, ``seed + repeat``; the benchmark's
    own seed where the generation has none.
    """
    settings = {**case.adapter.generation, **model.generation}
    stop = settings.get("stop") or ()
    settings["stop"] = (stop,) if isinstance(stop, str) else tuple(stop)
    params = GenerationParams(**settings)
    if params.temperature and case.adapter.repeats > 1:
        first = case.adapter.seed if params.seed is None else params.seed
        return replace(params, seed=first + case.repeat)
    return params


def prediction_key(
    fingerprint: str, inferencer: Inferencer, payload: Payload, params: GenerationParams, case: Case
) -> PredictionKey:
    """Return what a saved prediction must match to be served again."""
    asked = asdict(payload) if isinstance(payload, LoglikelihoodQuery) else payload
    sample = case.sample
    return PredictionKey(
        model=_model_digest(fingerprint),
        prompt=digest(asked),
        params=_params_digest(inferencer.mode, params, repr(params)),
        sample=digest([sample.index, str(sample.id), sample.choices, case.repeat]),
    )


@lru_cache(maxsize=64)
def _model_digest(fingerprint: str) -> str:
    return digest(fingerprint)


@lru_cache(maxsize=1024)
def _params_digest(mode: str, params: GenerationParams, text: str) -> str:
    """Return the digest; ``text`` tells apart what is equal, 0 and 0.0, but written otherwise."""
    return digest({"mode": mode, **params.to_wire()})


def build_record(
    case: Case,
    shown: Any,
    key: PredictionKey,
    *,
    output: ModelOutput | None = None,
    error: str | None = None,
    dropped_shots: int = 0,
) -> Record:
    """Return the record of a prediction, or of the error there was instead.

    What the output has in ``extra`` is further columns, never in place of these.
    """
    sample = case.sample
    record: Record = {
        "index": case.index,
        "sample_id": case.item_id,
        "subset": case.subset,
        "origin_prompt": shown,
    }
    if output is None:
        record["error"] = error
    else:
        record["prediction"] = output.completion
    record["gold"] = sample.target
    if sample.choices is not None:
        record["choices"] = sample.choices
    if output is not None:
        for name in ("finish_reason", "reasoning", "usage", "logprobs"):
            if (value := getattr(output, name)) is not None:
                record[name] = value
    if dropped_shots:
        record["dropped_shots"] = dropped_shots
    record["key"] = key.to_wire()
    if output is not None:
        record |= {name: v for name, v in output.extra.items() if name not in record}
    return record


def task_state(case: Case, model: str, record: Mapping[str, Any]) -> TaskState:
    """Return the state that scoring starts from: the reply as saved, the reference as it is now.

    The options need no care: a prediction is only served while its key matches, which holds them.
    """
    sample = case.sample
    prediction = record["prediction"]
    shown = record.get("origin_prompt")
    messages: list[ChatMessage] = (
        shown if isinstance(shown, list) else [{"role": "user", "content": str(shown)}]
    )
    output = ModelOutput(
        prediction,
        message={"role": "assistant", "content": prediction},
        finish_reason=record.get("finish_reason"),
        reasoning=record.get("reasoning"),
        usage=record.get("usage"),
    )
    return TaskState(
        model=model,
        sample=sample,
        messages=messages,
        output=output,
        sample_id=case.item_id,
        group_id=sample.index,
    )
