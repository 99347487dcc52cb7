from __future__ import annotations

import pytest

from pytest_evalplug.dataset.dataset_dict import DatasetDict, count
from pytest_evalplug.types import Sample


def table(keys: str) -> list[Sample]:
    return [
        Sample(input=f"q{n}", target="", subset_key=None if key == "-" else key, index=str(n))
        for n, key in enumerate(keys)
    ]


def shown(dataset: DatasetDict) -> dict[str, list[str]]:
    return {name: [s.index for s in samples] for name, samples in dataset.items()}


def test_splits_by_subset_key_in_order_of_appearance() -> None:
    assert shown(DatasetDict.from_dataset(table("ba-ab"))) == {
        "b": ["0", "4"],
        "a": ["1", "3"],
        "default": ["2"],
    }


def test_subset_list_selects_orders_and_keeps_the_empty_ones() -> None:
    result = DatasetDict.from_dataset(table("bacb"), ["c", "missing", "b"])
    assert list(result) == ["c", "missing", "b"]
    assert shown(result) == {"c": ["2"], "missing": [], "b": ["0", "3"]}


def test_limit_is_per_subset() -> None:
    assert shown(DatasetDict.from_dataset(table("aabab"), limit=2)) == {
        "a": ["0", "1"],
        "b": ["2", "4"],
    }


def test_repeats_follow_one_another_and_count_on_the_table_size() -> None:
    samples = table("aab")
    samples[1].index = "0.1"
    result = DatasetDict.from_dataset(samples, repeats=3)
    assert shown(result) == {"a": ["0", "0.1", "3", "3.1", "6", "6.1"], "b": ["2", "5", "8"]}
    assert result["a"][4].input == "q0"
    assert [s.index for s in samples] == ["0", "0.1", "2"]


@pytest.mark.parametrize(
    ("size", "limit", "expected"),
    [
        (10, None, 10),
        (10, 3, 3),
        (2, 3, 2),
        (10, 1, 1),
        (10, 1.0, 10),
        (10, 0.25, 3),
        (100, 0.07, 7),
        (1319, 0.1, 132),
        (3, 0.001, 1),
        (10, 5.0, 5),
    ],
)
def test_count(size: int, limit: float | None, expected: int) -> None:
    assert count(size, limit) == expected
