from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from pytest_evalplug.dataset.seeding import rng, sort_key


def test_same_in_every_process_and_version() -> None:
    assert sort_key(0, "mmlu", "law", "choices", "12").hex()[:16] == "954503dab8621bfd"
    assert rng(7, "demo", "3").sample(range(100), 5) == rng(7, "demo", "3").sample(range(100), 5)


def test_each_part_counts() -> None:
    draws = {
        rng(*args).random()  # type: ignore[arg-type]
        for args in [(0, "a", "b"), (1, "a", "b"), (0, "ab"), (0, "b", "a"), (0, "a", "b", "")]
    }
    assert len(draws) == 5


def test_global_state_is_neither_read_nor_changed() -> None:
    random.seed(1)
    expected = random.random()
    random.seed(1)
    first = rng(0, "x").random()
    assert random.random() == expected
    assert rng(0, "x").random() == first


@given(st.lists(st.text(), max_size=4), st.lists(st.text(), max_size=4))
def test_different_parts_never_meet(left: list[str], right: list[str]) -> None:
    assert (sort_key(0, *left) == sort_key(0, *right)) == (left == right)


def test_lone_surrogates_are_text_too() -> None:
    assert sort_key(0, "\ud800") != sort_key(0, "\ud801")
