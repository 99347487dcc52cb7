"""Samples by subset."""

from __future__ import annotations

__all__ = ["DatasetDict"]

from collections.abc import Iterable, Sequence
from dataclasses import replace

from pytest_evalplug.dataset.ids import repeat_index
from pytest_evalplug.types import Sample


class DatasetDict(dict[str, list[Sample]]):
    """A dict of subset -> Samples, in the order in which the subsets are evaluated."""

    @classmethod
    def from_dataset(
        cls,
        dataset: Iterable[Sample],
        subset_list: Sequence[str] | None = None,
        limit: int | float | None = None,
        repeats: int = 1,
    ) -> DatasetDict:
        """Split one table of Samples by ``subset_key`` (``None`` is ``default``).

        ``subset_list`` selects and orders; without it every key is kept, in the order of first
        appearance. A selected subset without a Sample is there, empty. ``limit`` is per subset: a
        count, or a fraction below 1. Repeat r of a Sample has the index ``index + r * N`` with N
        the table's size and follows repeat r - 1 of all others.
        """
        samples = list(dataset)
        result = cls({name: [] for name in subset_list or ()})
        for sample in samples:
            key = "default" if sample.subset_key is None else sample.subset_key
            if subset_list is None or key in result:
                result.setdefault(key, []).append(sample)
        for name, group in result.items():
            kept = group[: count(len(group), limit)]
            result[name] = [
                sample
                if r == 0
                else replace(sample, index=repeat_index(sample.index, r, len(samples)))
                for r in range(repeats)
                for sample in kept
            ]
        return result


def count(size: int, limit: int | float | None) -> int:
    """Return how many of ``size`` Samples ``limit`` keeps; a fraction is rounded up."""
    if limit is None:
        return size
    if isinstance(limit, float) and limit <= 1:
        # the product of 0.07 and 100 is a little above 7: not a reason for an eighth
        return min(size, -int(-(limit * size - 1e-9) // 1))
    return min(size, int(limit))
