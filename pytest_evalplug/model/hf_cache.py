"""Keys and values of rows of different lengths, written in place.

Imports torch and transformers: itself imported where a model is there already.
"""

from __future__ import annotations

__all__ = ["RowCache"]

from dataclasses import dataclass
from typing import Any

import torch
from transformers.cache_utils import Cache, DynamicLayer

_BLOCK = 64
"""Columns; buffers are multiples of it."""


@dataclass(slots=True)
class _Target:
    """What the next forward pass writes and sees: the rows from ``first`` on."""

    first: int = 0
    columns: Any = None
    """Where each row's new tokens go, rows x tokens."""
    past: int = 0
    width: int = 0


class _Layer(DynamicLayer):  # type: ignore[misc]
    """Rows x heads x columns x size; a row's tokens fill its columns from 0 on."""

    keys: Any
    values: Any

    def __init__(self, target: _Target, rows: int) -> None:
        super().__init__()
        self._target = target
        self._rows = rows

    def update(self, keys: Any, values: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        """Write the new keys and values; return all that the rows may look at."""
        target = self._target
        columns = target.columns.to(keys.device)
        rows = torch.arange(target.first, target.first + len(columns), device=keys.device)[:, None]
        self.reserve(keys, values, target.width)
        self.keys[rows, :, columns] = keys.transpose(1, 2)
        self.values[rows, :, columns] = values.transpose(1, 2)
        seen = slice(target.first, target.first + len(columns))
        return self.keys[seen, :, : target.width], self.values[seen, :, : target.width]

    def get_seq_length(self) -> int:
        """Return how many columns lie before the new tokens."""
        return self._target.past

    def reserve(self, keys: Any, values: Any, width: int) -> None:
        """Have room for ``width`` columns of what looks like ``keys`` and ``values``."""
        if not self.is_initialized:
            self.lazy_initialization(keys, values)
        self.keys = self._grown(self.keys, keys, width)
        self.values = self._grown(self.values, values, width)

    def _grown(self, old: Any, like: Any, width: int) -> Any:
        held = old.shape[-2] if old.dim() == 4 else 0
        if width <= held:
            return old
        room = -(-max(width, held + held // 4) // _BLOCK) * _BLOCK
        # zeros: what is masked has no weight, but no weight times NaN is NaN
        new = like.new_zeros((self._rows, like.shape[1], room, like.shape[3]))
        if held:
            new[:, :, :held] = old
        return new


class RowCache(Cache):  # type: ignore[misc]
    """The cache of at most ``rows`` rows.

    Before a forward pass, :meth:`aim` says which rows it is about.
    """

    def __init__(self, rows: int) -> None:
        self._target = _Target()
        self._rows = rows
        super().__init__(layer_class_to_replicate=self._layer)

    def aim(self, first: int, columns: Any, past: int, width: int) -> None:
        """Write at ``columns`` (rows x tokens) of the rows from ``first`` on, next time.

        ``past`` columns lie before the new tokens; the first ``width`` columns are seen.
        """
        self._target.first, self._target.columns = first, columns
        self._target.past, self._target.width = past, width

    def fill(self, first: int, count: int, header: Any) -> None:
        """Begin ``count`` rows with the tokens of ``header``, a cache of a batch of one."""
        for index, layer in enumerate(header.layers):
            if index == len(self.layers):
                self.layers.append(self._layer())
            width = layer.keys.shape[-2]
            self.layers[index].reserve(layer.keys, layer.values, width)
            self.layers[index].keys[first : first + count, :, :width] = layer.keys
            self.layers[index].values[first : first + count, :, :width] = layer.values

    def move(self, source: int, target: int, width: int) -> None:
        """Copy the first ``width`` columns of one row to another."""
        for layer in self.layers:
            layer.keys[target, :, :width] = layer.keys[source, :, :width]
            layer.values[target, :, :width] = layer.values[source, :, :width]

    def _layer(self) -> _Layer:
        return _Layer(self._target, self._rows)
