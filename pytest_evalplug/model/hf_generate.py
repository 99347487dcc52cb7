"""Text generation for one batch of token ids: stops, sampling, where each row ends."""

from __future__ import annotations

__all__ = ["generate_batch"]

import hashlib
import secrets
from collections.abc import Sequence
from typing import Any

from pytest_evalplug.model.base import GenerationParams
from pytest_evalplug.model.hf_prefix import cache_parameter
from pytest_evalplug.model.hf_tokens import PromptEncoder
from pytest_evalplug.types import ModelOutput


def generate_batch(
    model: Any,
    encoder: PromptEncoder,
    inputs: dict[str, Any],
    rows: Sequence[list[int]],
    params: GenerationParams,
    end_ids: Sequence[int],
) -> list[ModelOutput]:
    """Return one output per row; ``inputs`` are the rows as padded tensors.

    They may hold a ``cache`` of a batch of one, with what all rows begin with.
    Sampling adds Gumbel noise to the warped logits and takes the largest, which draws from their
    softmax (Gumbel-max trick); this way every row can have a generator of its own.
    """
    import torch
    from transformers import GenerationConfig, LogitsProcessorList

    if "cache" in inputs:
        cache = inputs.pop("cache")
        cache.batch_repeat_interleave(len(rows))
        inputs[cache_parameter(model)] = cache
    ends = sorted({*end_ids, *encoder.special_ids(params.stop)})
    watch = _StopWatch(encoder, params.stop, inputs["input_ids"].shape[1], len(rows))
    config = GenerationConfig(
        max_new_tokens=params.max_tokens,
        do_sample=False,
        use_cache=True,  # not left to the checkpoint: without it every step reads all of the prompt
        eos_token_id=ends or None,
        pad_token_id=ends[0] if ends else 0,
    )
    with torch.inference_mode():
        sequences = model.generate(
            **inputs,
            generation_config=config,
            logits_processor=LogitsProcessorList(_sampling(params, rows, model.device)),
            stopping_criteria=[watch] if params.stop else [],
        )
    new = sequences[:, inputs["input_ids"].shape[1] :].tolist()
    return [
        _output(encoder, ids, len(row), watch.ended[i], params.stop, frozenset(ends))
        for i, (row, ids) in enumerate(zip(rows, new, strict=True))
    ]


def _output(
    encoder: PromptEncoder,
    ids: list[int],
    prompt_tokens: int,
    ended: int | None,
    stop: Sequence[str],
    ends: frozenset[int],
) -> ModelOutput:
    ids = ids[:ended]
    end = next((i for i, id_ in enumerate(ids) if id_ in ends), None)
    used = len(ids) if end is None else end + 1
    text = encoder.decode(ids[:end])
    cut = min((i for i in map(text.find, stop) if i >= 0), default=None)
    stopped = end is not None or ended is not None
    return ModelOutput(
        completion=text[:cut],
        message={"role": "assistant", "content": text[:cut]},
        finish_reason="stop" if stopped else "length",
        usage={"prompt_tokens": prompt_tokens, "completion_tokens": used},
    )


class _StopWatch:
    """A stopping criterion that notes after how many new tokens a row showed a stop string."""

    def __init__(
        self, encoder: PromptEncoder, stop: Sequence[str], prompt_length: int, rows: int
    ) -> None:
        self._encoder = encoder
        self._stop = [text for text in stop if text]
        self._start = prompt_length
        # every token that shows has a byte or more; 4 more for a character split over tokens
        self._tail = max((len(text.encode()) for text in self._stop), default=0) + 4
        self.ended: list[int | None] = [None] * rows

    def __call__(self, input_ids: Any, scores: Any, **kwargs: Any) -> Any:
        import torch

        new = input_ids.shape[1] - self._start
        tails = input_ids[:, max(self._start, input_ids.shape[1] - self._tail) :].tolist()
        for row, tail in enumerate(tails):
            if self.ended[row] is None:
                text = self._encoder.decode(tail)
                if any(stop in text for stop in self._stop):
                    self.ended[row] = new
        done = [ended is not None for ended in self.ended]
        return torch.tensor(done, device=input_ids.device)


def _sampling(params: GenerationParams, rows: Sequence[list[int]], device: Any) -> list[Any]:
    if params.temperature <= 0:
        return []
    from transformers import TemperatureLogitsWarper, TopPLogitsWarper

    warpers: list[Any] = [TemperatureLogitsWarper(params.temperature)]
    if params.top_p is not None and params.top_p < 1:
        warpers.append(TopPLogitsWarper(params.top_p))
    return [*warpers, _GumbelNoise([_seed(params.seed, row) for row in rows], device)]


def _seed(seed: int | None, ids: list[int]) -> int:
    if seed is None:
        return secrets.randbits(63)
    digest = hashlib.sha256(repr((seed, ids)).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


class _GumbelNoise:
    """A logits processor that adds standard Gumbel noise, each row from its own generator."""

    def __init__(self, seeds: Sequence[int], device: Any) -> None:
        import torch

        self._generators = [torch.Generator(device).manual_seed(seed) for seed in seeds]

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        import torch

        noise = torch.empty_like(scores, dtype=torch.float32)
        for row, generator in zip(noise, self._generators, strict=True):
            row.exponential_(generator=generator)
        return scores.float() - noise.log()
