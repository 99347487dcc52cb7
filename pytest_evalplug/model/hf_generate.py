"""Text generation by a model's own ``generate``, for models that :mod:`hf_decode` can't step."""

from __future__ import annotations

__all__ = ["generate_batch"]

from collections.abc import Sequence
from typing import Any

from pytest_evalplug.model.hf_reply import Ending, Sampler
from pytest_evalplug.types import ModelOutput


def generate_batch(
    model: Any, inputs: dict[str, Any], rows: Sequence[list[int]], ending: Ending, sampler: Sampler
) -> list[ModelOutput]:
    """Return one output per row; ``inputs`` are the rows as padded tensors."""
    import torch
    from transformers import GenerationConfig

    start = inputs["input_ids"].shape[1]
    watch = _StopWatch(ending, start, len(rows))
    ends = sorted(ending.end_ids)
    config = GenerationConfig(
        max_new_tokens=ending.max_tokens,
        do_sample=False,
        use_cache=True,  # not left to the checkpoint: without it every step reads all of the prompt
        eos_token_id=ends or None,
        pad_token_id=ends[0] if ends else 0,
    )
    with torch.inference_mode():
        sequences = model.generate(
            **inputs,
            generation_config=config,
            logits_processor=[_Scores(sampler, [sampler.generator(row) for row in rows])],
            stopping_criteria=[watch],
        )
    new = sequences[:, start:].tolist()
    return [
        ending.output(len(row), ids[:ended])
        for row, ids, ended in zip(rows, new, watch.ended, strict=True)
    ]


class _StopWatch:
    """A stopping criterion that notes after how many new tokens a row showed a stop string."""

    def __init__(self, ending: Ending, start: int, rows: int) -> None:
        self._ending = ending
        self._start = start
        self.ended: list[int | None] = [None] * rows

    def __call__(self, input_ids: Any, scores: Any, **kwargs: Any) -> Any:
        import torch

        for row, ids in enumerate(input_ids[:, self._start :].tolist()):
            if self.ended[row] is None and self._ending.shows_stop(ids):
                self.ended[row] = len(ids)
        done = [ended is not None for ended in self.ended]
        return torch.tensor(done, device=input_ids.device)


class _Scores:
    """A logits processor that samples."""

    def __init__(self, sampler: Sampler, generators: Sequence[Any]) -> None:
        self._sampler = sampler
        self._generators = generators

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        return self._sampler.scores(scores, self._generators)
