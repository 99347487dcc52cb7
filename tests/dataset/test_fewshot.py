from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from pytest_evalplug.dataset.fewshot import ShotPool
from pytest_evalplug.dataset.seeding import rng
from pytest_evalplug.types import Sample


def samples(*questions: str) -> list[Sample]:
    return [Sample(input=q, target=q.upper(), index=str(n)) for n, q in enumerate(questions)]


def asked(shots: list[Sample]) -> list[str]:
    return [str(shot.input) for shot in shots]


def test_the_first_ones_in_order() -> None:
    pool = ShotPool(samples("a", "b", "c"), same_split=False)
    assert asked(pool.pick(Sample("x", "", index="0"), 2)) == ["a", "b"]


def test_the_question_itself_is_never_shown() -> None:
    pool = ShotPool(samples("a", "b  b", "c"), same_split=False)
    assert asked(pool.pick(Sample("b\nb ", "", index="7"), 2)) == ["a", "c"]


def test_nor_the_same_record_of_the_same_split() -> None:
    pool = ShotPool(samples("a", "b", "c"), same_split=True)
    assert asked(pool.pick(Sample("rephrased", "", index="1.1"), 3)) == ["a", "c"]
    pool = ShotPool(samples("a", "b", "c"), same_split=False)
    assert asked(pool.pick(Sample("other", "", index="1"), 3)) == ["a", "b", "c"]


def test_the_same_words_with_other_choices_are_another_question() -> None:
    shot = Sample("Which is true?", "A", choices=["x", "y"], index="0")
    pool = ShotPool([shot], same_split=False)
    assert pool.pick(Sample("Which is true?", "B", choices=["v", "w"], index="0"), 1) == [shot]
    assert pool.pick(Sample("Which is true?", "B", choices=["y", "x"], index="0"), 1) == []


def test_drawn_ones_depend_on_the_generator_only() -> None:
    pool = ShotPool(samples(*"abcdefghij"), same_split=False)
    sample = Sample("x", "", index="0")
    first = asked(pool.pick(sample, 4, rng(0, "3")))
    assert first == asked(pool.pick(sample, 4, rng(0, "3")))
    assert len(set(first)) == 4
    counts = Counter(q for n in range(500) for q in asked(pool.pick(sample, 4, rng(n))))
    assert all(150 <= counts[q] <= 250 for q in "abcdefghij")


def test_conversations_are_compared_whole() -> None:
    chat = Sample([{"role": "user", "content": "a"}], "", index="0")
    other = Sample([{"role": "user", "content": "b"}], "", index="1")
    assert ShotPool([chat, other], same_split=False).pick(chat, 2) == [other]


@given(
    st.lists(st.sampled_from("abcde"), max_size=8),
    st.sampled_from("abcde"),
    st.integers(0, 9),
    st.integers(0, 5) | st.none(),
)
def test_never_the_own_answer(
    pool: list[str], question: str, number: int, seed: int | None
) -> None:
    shots = ShotPool(samples(*pool), same_split=False).pick(
        Sample(question, "", index="0"), number, None if seed is None else rng(seed)
    )
    others = [q for q in pool if q != question]
    assert question not in asked(shots)
    assert len(shots) == min(number, len(others))
    assert not Counter(asked(shots)) - Counter(others)
