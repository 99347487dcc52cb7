from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalplug.dataset.ids import base_index, item_ids, make_unique, repeat_index
from pytest_evalplug.types import Sample

SAFE = re.compile(r"[A-Za-z0-9_.-]{1,80}")


def named(*ids: Any) -> list[Sample]:
    return [Sample(input="", target="", id=name, index=str(n)) for n, name in enumerate(ids)]


def test_plain_names_stay() -> None:
    assert item_ids(named("0", 1, "train_7", "v1.2"), "main") == [
        "main-0",
        "main-1",
        "main-train_7",
        "main-v1.2",
    ]


def test_without_an_id_the_index_is_the_name() -> None:
    assert item_ids(named(None, None), "main") == ["main-0", "main-1"]


def test_changed_names_stay_readable_and_get_a_hash() -> None:
    (name,) = item_ids(named("HumanEval/3"), "default")
    assert re.fullmatch(r"default-HumanEval_3-[0-9a-f]{8}", name)
    (name,) = item_ids(named("5"), "computer science")
    assert re.fullmatch(r"computer_science-5-[0-9a-f]{8}", name)


def test_names_that_only_differ_in_unsafe_characters_stay_apart() -> None:
    assert len(set(item_ids(named("a/b", "a b", "a_b", "a\nb", "a\u2028b"), "s"))) == 5


def test_long_names_are_cut_and_stay_apart() -> None:
    names = item_ids(named("x" * 10_000, "x" * 10_001), "s")
    assert [len(name) for name in names] == [80, 80]
    assert names[0] != names[1]


def test_duplicates_get_their_index() -> None:
    assert item_ids(named("a", "a", "a"), "s") == ["s-a", "s-a-1", "s-a-2"]


def test_a_duplicate_does_not_meet_a_name_that_looks_like_one() -> None:
    names = item_ids(named("a", "a-2", "a"), "s")
    assert names[:2] == ["s-a", "s-a-2"]
    assert len(set(names)) == 3


@given(st.lists(st.text() | st.integers() | st.none(), max_size=20), st.text(max_size=100))
def test_whatever_the_data_holds(ids: list[str | int | None], subset: str) -> None:
    names = item_ids(named(*ids), subset)
    assert all(SAFE.fullmatch(name) for name in names)
    assert len(set(names)) == len(ids)
    assert names == item_ids(named(*ids), subset)


def test_names_are_unique_over_a_benchmark() -> None:
    subsets = ["a", "a-b", "a-b-c", "a b", "ab"]
    assert item_ids(named("1", "b-1", "b1", "b"), "a", subsets) == [
        "a-1",
        "a-b-1-d109b3f8",
        "a-b1",
        "a-b",
    ]
    assert item_ids(named("1"), "a-b", subsets) == ["a-b-1"]


@given(
    st.lists(st.text("a- ", min_size=1, max_size=3), min_size=1, max_size=6, unique=True),
    st.lists(st.text("a- ", max_size=3), max_size=9, unique=True),
    st.sampled_from(["", "x" * 80]),
)
def test_whatever_the_subsets_are_called(subsets: list[str], ids: list[str], long: str) -> None:
    subsets = [long + subset for subset in subsets]
    names = [name for s in subsets for name in item_ids(named(*ids), s, subsets)]
    assert all(SAFE.fullmatch(name) for name in names)
    assert len(set(names)) == len(subsets) * len(ids)


def test_emoji_and_surrogates() -> None:
    names = item_ids(named("😀", "🎉", "\ud800", "题"), "中文")
    assert all(SAFE.fullmatch(name) for name in names)
    assert len(set(names)) == 4


@given(st.lists(st.sampled_from("ab-12"), max_size=12))
def test_make_unique_keeps_the_first(names: list[str]) -> None:
    unique = make_unique(names, [str(n) for n in range(len(names))])
    assert len(set(unique)) == len(names)
    firsts = {names.index(name) for name in names}
    assert all(unique[n] == names[n] for n in firsts if names[n] not in unique[:n])


@pytest.mark.parametrize(
    ("index", "repeat", "expected"), [("12", 0, "12"), ("12", 2, "2012"), ("12.1", 1, "1012.1")]
)
def test_repeat_index(index: str, repeat: int, expected: str) -> None:
    assert repeat_index(index, repeat, 1000) == expected
    assert base_index(expected, 1000) == index
