"""Batches of rows of like length, smaller ones after memory ran out."""

from __future__ import annotations

__all__ = ["Batcher", "empty_cache", "out_of_memory"]

from collections.abc import Callable, Sequence
from typing import TypeVar

from pytest_evalplug.errors import ModelError

R = TypeVar("R")
T = TypeVar("T")


class Batcher:
    """Runs rows through a function in batches of at most ``limit``.

    ``limit`` is halved whenever a batch runs out of memory, and stays so. A row that does not fit
    by itself gets a ModelError in its place.
    """

    def __init__(self, limit: int) -> None:
        self.limit = max(1, limit)

    def run(
        self,
        rows: Sequence[R],
        compute: Callable[[list[R]], list[T]],
        *,
        length: Callable[[R], int],
        cost: Callable[[R], int] = lambda row: 0,
        max_cost: int = 0,
    ) -> list[T | ModelError]:
        """Return ``compute``'s result for each row, in the order of ``rows``.

        Rows of like ``length`` share a batch, the longest first, so that memory runs out early or
        never. A batch of more than one row keeps rows x the largest ``cost`` within ``max_cost``.
        """
        order = sorted(range(len(rows)), key=lambda i: -length(rows[i]))
        results: list[T | ModelError] = [_UNSET] * len(rows)
        start = 0
        while start < len(order):
            batch: list[int] = []
            widest = 0
            for i in order[start : start + self.limit]:
                widest = max(widest, cost(rows[i]))
                if batch and (len(batch) + 1) * widest > max_cost:
                    break
                batch.append(i)
            outputs = self._attempt([rows[i] for i in batch], compute)
            if outputs is None:
                continue
            for i, output in zip(batch, outputs, strict=True):
                results[i] = output
            start += len(batch)
        return results

    def _attempt(
        self, rows: list[R], compute: Callable[[list[R]], list[T]]
    ) -> Sequence[T | ModelError] | None:
        """Return the results, or None after lowering the limit."""
        try:
            return compute(rows)
        except Exception as error:
            if not out_of_memory(error):
                raise
        # outside the handler: the traceback holds the tensors that must go first
        empty_cache()
        if len(rows) == 1:
            return [ModelError("out of memory for this prompt alone", fix="Use a smaller model")]
        self.limit = len(rows) // 2
        return None


_UNSET = ModelError("not computed")


def out_of_memory(error: Exception) -> bool:
    """Tell whether an error says that memory ran out, on any device."""
    import torch

    if isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        return True
    text = str(error).lower()
    return isinstance(error, RuntimeError) and (
        "out of memory" in text or "can't allocate memory" in text or "not enough memory" in text
    )


def empty_cache() -> None:
    """Give unused device memory back."""
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()
