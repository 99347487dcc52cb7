"""Which part of a split run a Sample belongs to."""

from __future__ import annotations

__all__ = ["shard_numbers"]

import zlib
from collections.abc import Sequence

from pytest_evalplug.evaluation.statistics import cluster_of
from pytest_evalplug.types import Sample


def shard_numbers(samples: Sequence[Sample], dataset: str, count: int) -> list[int]:
    """Return the shard, from 1 to ``count``, of each of a dataset's Samples.

    Samples of one record or one context (``context_id``) are in one shard. These groups are dealt
    in turn, so that a dataset's shards differ by one group at most, and a limit, which cuts the
    end off, moves nobody. Which shard begins depends on the name: many small datasets would
    otherwise all give their odd one to the first.
    """
    first = zlib.crc32(dataset.encode("utf-8", "surrogatepass"))
    turns: dict[str | None, int] = {}
    return [
        (first + turns.setdefault(cluster_of(s.index, s.metadata), len(turns))) % count + 1
        for s in samples
    ]
