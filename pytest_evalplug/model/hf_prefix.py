"""Keys and values of what many texts begin with, such as a few-shot header: computed once, kept."""

from __future__ import annotations

__all__ = ["WORTH_KEEPING", "PrefixCache", "cache_parameter", "shared_length"]

import inspect
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_KEPT_BYTES = 1024**3
WORTH_KEEPING = 32
"""Tokens; fewer are computed again as fast."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """A pair of tensors a layer, 1 x heads x tokens x size."""

    layers: list[tuple[Any, Any]]
    size: int


class PrefixCache:
    """What has been kept for one model; the longest unused goes first when memory is short."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._kept: OrderedDict[tuple[int, ...], _Kept] = OrderedDict()

    def longest(self, ids: Sequence[int]) -> int:
        """Return how many of the first tokens of ``ids`` are kept."""
        return max((shared_length(kept, ids) for kept in self._kept), default=0)

    def of(self, ids: tuple[int, ...]) -> Any:
        """Return a cache of a batch of one that holds ``ids``, all of which are kept."""
        from transformers import DynamicCache

        cache = DynamicCache()
        if ids:
            name = next(kept for kept in reversed(self._kept) if kept[: len(ids)] == ids)
            self._kept.move_to_end(name)
            for layer, (keys, values) in enumerate(self._kept[name].layers):
                cache.update(keys[:, :, : len(ids)], values[:, :, : len(ids)], layer)
        return cache

    def keep(self, ids: tuple[int, ...], cache: Any) -> None:
        """Keep the first ``len(ids)`` tokens of a cache, if that is worth it."""
        if len(ids) < self.longest(ids) + WORTH_KEEPING:
            return
        layers = [
            (layer.keys[:, :, : len(ids)].clone(), layer.values[:, :, : len(ids)].clone())
            for layer in cache.layers
        ]
        size = sum(t.numel() * t.element_size() for pair in layers for t in pair)
        self._kept[ids] = _Kept(layers, size)
        while len(self._kept) > 1 and sum(k.size for k in self._kept.values()) > _KEPT_BYTES:
            self._kept.popitem(last=False)

    def shared(self, rows: Sequence[list[int]]) -> tuple[int, ...]:
        """Return what all rows begin with and is kept from now on, if that is worth it.

        One token at least of each row is not part of it.
        """
        shortest = min(map(len, rows)) - 1
        common = min(shortest, shared_length(min(rows), max(rows)))
        if common < WORTH_KEEPING:
            return ()
        if len(rows) > 1:
            self.compute(tuple(rows[0][:common]))
        return tuple(rows[0][: min(common, self.longest(rows[0]))])

    def compute(self, ids: tuple[int, ...]) -> None:
        """Have all of ``ids`` kept, computing what is missing; worth it only if it is long."""
        import torch

        known = self.longest(ids)
        if len(ids) < known + WORTH_KEEPING:
            return
        cache = self.of(ids[:known])
        device = self._model.device
        with torch.inference_mode():
            self._model(
                input_ids=torch.tensor([ids[known:]], device=device),
                position_ids=torch.arange(known, len(ids), device=device)[None],
                logits_to_keep=1,
                use_cache=True,
                **{cache_parameter(self._model): cache},
            )
        self.keep(ids, cache)

    def clear(self) -> None:
        """Let go of all that is kept."""
        self._kept.clear()


def shared_length(first: Sequence[int], second: Sequence[int]) -> int:
    """Return how many tokens two texts begin with alike."""
    count = 0
    for a, b in zip(first, second, strict=False):
        if a != b:
            break
        count += 1
    return count


def cache_parameter(model: Any) -> str:
    """Return what the model calls its cache: transformers renamed it in version 5."""
    return "cache" if "cache" in inspect.signature(model.forward).parameters else "past_key_values"
