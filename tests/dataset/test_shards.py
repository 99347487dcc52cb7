"""Which shard a Sample belongs to."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from pytest_evalplug.dataset.shards import shard_numbers
from pytest_evalplug.types import Sample


def samples(count: int, versions: int = 1) -> list[Sample]:
    if versions == 1:
        return [Sample("", "", index=str(n)) for n in range(count)]
    return [Sample("", "", index=f"{n}.{v}") for n in range(count) for v in range(versions)]


@given(size=st.integers(0, 60), count=st.integers(1, 9), name=st.text(max_size=5))
def test_shards_are_balanced(size: int, count: int, name: str) -> None:
    found = Counter(shard_numbers(samples(size), name, count))
    assert set(found) <= set(range(1, count + 1))
    sizes = [found[number] for number in range(1, count + 1)]
    assert max(sizes) - min(sizes) <= 1


@given(size=st.integers(0, 60), kept=st.integers(0, 60), count=st.integers(1, 9))
def test_a_limit_moves_nobody(size: int, kept: int, count: int) -> None:
    every = samples(size)
    assert shard_numbers(every[:kept], "d", count) == shard_numbers(every, "d", count)[:kept]


def test_versions_of_a_sample_stay_together() -> None:
    found = shard_numbers(samples(10, versions=4), "d", 3)
    assert all(len({*found[n : n + 4]}) == 1 for n in range(0, 40, 4))
    assert len(set(found)) == 3


def test_samples_of_a_context_stay_together() -> None:
    contexts = ["a", "a", "b", "a", "c", "b"]
    shared = [
        Sample("", "", metadata={"context_id": c}, index=str(n)) for n, c in enumerate(contexts)
    ]
    found = dict(zip(contexts, shard_numbers(shared, "d", 3), strict=True))
    assert [found[c] for c in contexts] == shard_numbers(shared, "d", 3)
    assert len(set(found.values())) == 3


def test_small_datasets_do_not_all_begin_with_one_shard() -> None:
    assert {shard_numbers(samples(1), f"d{n}", 2)[0] for n in range(20)} == {1, 2}
