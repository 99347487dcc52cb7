"""How a reply is written, whatever reads the model: the next token, where it ends, its output."""

from __future__ import annotations

__all__ = ["Ending", "Sampler"]

import hashlib
import secrets
from collections.abc import Sequence
from typing import Any

from pytest_evalplug.model.base import GenerationParams
from pytest_evalplug.model.hf_tokens import PromptEncoder
from pytest_evalplug.types import ModelOutput


class Ending:
    """Says when a reply is over: an end token, a stop string, or as many tokens as it may have."""

    def __init__(
        self, encoder: PromptEncoder, params: GenerationParams, end_ids: Sequence[int]
    ) -> None:
        self._encoder = encoder
        self._stop = [text for text in params.stop if text]
        # every token that shows has a byte or more; 4 more for a character split over tokens
        self._tail = max((len(text.encode()) for text in self._stop), default=0) + 4
        self.max_tokens = params.max_tokens
        self.end_ids = frozenset({*end_ids, *encoder.special_ids(params.stop)})

    def over(self, ids: Sequence[int]) -> bool:
        """Tell whether the last of the ids ended the reply; to be asked at every token."""
        return ids[-1] in self.end_ids or len(ids) >= self.max_tokens or self.shows_stop(ids)

    def shows_stop(self, ids: Sequence[int]) -> bool:
        """Tell whether a stop string has just become complete."""
        if not self._stop:
            return False
        text = self._encoder.decode(list(ids[-self._tail :]))
        return any(stop in text for stop in self._stop)

    def output(self, prompt_tokens: int, ids: list[int]) -> ModelOutput:
        """Return the reply of ``ids``; what follows an end token is left out."""
        end = next((i for i, id_ in enumerate(ids) if id_ in self.end_ids), None)
        text = self._encoder.decode(ids[:end])
        cut = min((i for i in map(text.find, self._stop) if i >= 0), default=None)
        stopped = end is not None or self.shows_stop(ids)
        return ModelOutput(
            completion=text[:cut],
            message={"role": "assistant", "content": text[:cut]},
            finish_reason="stop" if stopped else "length",
            usage={
                "prompt_tokens": prompt_tokens,
                "completion_tokens": len(ids) if end is None else end + 1,
            },
        )


class Sampler:
    """Turns logits into scores of which the largest is the next token.

    At a temperature, Gumbel noise is added to the warped logits, so that their largest is a draw
    from their softmax (Gumbel-max trick); this way every row can have a generator of its own.
    """

    def __init__(self, params: GenerationParams, device: Any) -> None:
        self._seed = params.seed
        self._device = device
        self._warpers: list[Any] = []
        if params.temperature > 0:
            from transformers import TemperatureLogitsWarper, TopPLogitsWarper

            self._warpers.append(TemperatureLogitsWarper(params.temperature))
            if params.top_p is not None and params.top_p < 1:
                self._warpers.append(TopPLogitsWarper(params.top_p))

    def generator(self, prompt: list[int]) -> Any:
        """Return what a row draws from, by the seed and its prompt; None without a temperature."""
        import torch

        if not self._warpers:
            return None
        return torch.Generator(self._device).manual_seed(_seed(self._seed, prompt))

    def scores(self, logits: Any, generators: Sequence[Any]) -> Any:
        """Return rows x vocabulary scores in float32; each row's generator draws once."""
        import torch

        scores = logits.float()
        if not self._warpers:
            return scores
        for warper in self._warpers:
            scores = warper(None, scores)
        noise = torch.empty_like(scores)
        for row, generator in zip(noise, generators, strict=True):
            row.exponential_(generator=generator)
        return scores - noise.log()


def _seed(seed: int | None, ids: list[int]) -> int:
    if seed is None:
        return secrets.randbits(63)
    digest = hashlib.sha256(repr((seed, ids)).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1
