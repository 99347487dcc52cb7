from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalplug.dataset.meta import BenchmarkMeta
from pytest_evalplug.dataset.multi_choice import MultiChoiceAdapter
from pytest_evalplug.errors import DataError
from pytest_evalplug.types import ModelOutput, Sample, TaskState

from .conftest import Make


class One(MultiChoiceAdapter):
    def record_to_sample(self, record: dict[str, Any]) -> Sample:
        return Sample(record["q"], record["a"], choices=record["choices"])


class Several(One):
    multiple_correct = True


class Circular(One):
    circular = True


class CircularSeveral(Several):
    circular = True


def row(target: Any, choices: str = "wxyz", q: str = "Which?") -> dict[str, Any]:
    return {"q": q, "a": target, "choices": list(choices)}


def test_the_default_prompt(make: Make) -> None:
    adapter = make({"test.jsonl": [row("B")]}, One)
    (sample,) = adapter.samples("default")
    assert adapter.build_prompt(sample, "default") == (
        "Which?\n\nA. w\nB. x\nC. y\nD. z\n\nAnswer with the letter of the right option"
        ' (A, B, C, D). End with a line of the form "ANSWER: X".'
    )
    query = adapter.build_query(sample, "default")
    assert query.context == "Which?\n\nA. w\nB. x\nC. y\nD. z\nANSWER:"
    assert query.continuations == (" A", " B", " C", " D")


def test_several_right_ones_are_asked_for(make: Make) -> None:
    adapter = make({"test.jsonl": [row("BD")]}, Several)
    (sample,) = adapter.samples("default")
    assert "all their letters (of A, B, C, D)" in adapter.build_prompt(sample, "default")


def test_placeholders(make: Make) -> None:
    adapter = make(
        {"test.jsonl": [row("A", "ab", q="{choices}?")]},
        One,
        prompt_template="{question} [{letters}]\n{choices}",
    )
    (sample,) = adapter.samples("default")
    assert adapter.build_prompt(sample, "default") == "{choices}? [A, B]\nA. a\nB. b"


def test_shots_end_with_the_letter(make: Make) -> None:
    files = {"test.jsonl": [row("B")], "dev.jsonl": [row("C", "abc", q="Shot?")]}
    adapter = make(files, One, few_shot_num=1, train_split="dev")
    (sample,) = adapter.samples("default")
    prompt = adapter.build_prompt(sample, "default")
    assert prompt.startswith("Shot?\n\nA. a\nB. b\nC. c\nANSWER: C\n\nWhich?\n\nA. w\n")


def test_shots_are_asked_and_answered_as_the_question_is(make: Make) -> None:
    files = {"test.jsonl": [row("B")], "dev.jsonl": [row("C", "abc", q="Shot?")]}
    fields: dict[str, Any] = dict(
        few_shot_num=1,
        train_split="dev",
        prompt_template="{question}\n{choices}\nAnswer:",
        choice_prompt_template="Q: {question}\nA:",
        choice_template=" ({letter}) {choice}",
    )
    for mode, expected in {
        "gen": "Shot?\nA. a\nB. b\nC. c\nAnswer: C\n\nWhich?\nA. w\nB. x\nC. y\nD. z\nAnswer:",
        "ppl": "Q: Shot?\nA: (C) c\n\nQ: Which?\nA:",
        "ll": "Q: Shot?\nA: (C) c\n\nQ: Which?\nA:",
    }.items():
        adapter = make(files, One, options={"eval_mode": mode}, **fields)
        (sample,) = adapter.samples("default")
        if mode == "gen":
            assert adapter.build_prompt(sample, "default") == expected
        else:
            assert adapter.build_query(sample, "default").context == expected


@pytest.mark.parametrize(
    ("cls", "target", "expected"),
    [
        (One, "B", "B"),
        (One, " B ", "B"),
        (One, ["B"], "B"),
        (One, ["D", "A"], ["A", "D"]),
        (Several, "B", "B"),
        (Several, "DA", "AD"),
        (Several, "A B D", "ABD"),
        (Several, "A, D", "AD"),
        (Several, ["D", "A", "D"], "AD"),
    ],
)
def test_targets(make: Make, cls: type[MultiChoiceAdapter], target: Any, expected: Any) -> None:
    (sample,) = make({"test.jsonl": [row(target)]}, cls).samples("default")
    assert sample.target == expected


@pytest.mark.parametrize("target", ["E", "b", "AB", "w", 1, True, [], ["A", "x"], "@", "(A)"])
def test_what_is_no_letter_is_refused(make: Make, target: Any) -> None:
    with pytest.raises(DataError) as error:
        make({"test.jsonl": [row("A"), row(target)]}, One).samples("default")
    assert f"test.jsonl:2: target {target!r} is not a letter of A, B, C, D" in str(error.value)


def test_no_choices_are_refused(make: Make) -> None:
    with pytest.raises(DataError, match=r"test\.jsonl:1: a multiple-choice sample without choices"):
        make({"test.jsonl": [row("A", "")]}, One).samples("default")


def test_the_answer_follows_its_shuffled_choice(make: Make) -> None:
    table = [row("ABCD"[n % 4], q=f"q{n}") for n in range(200)]
    plain = make({"test.jsonl": table}, One).samples("default")
    shuffled = make(cls=One, shuffle_choices=True).samples("default")
    for before, after in zip(plain, shuffled, strict=True):
        assert sorted(after.choices or ()) == sorted(before.choices or ())
        assert after.choices is not None
        right = "wxyz"["ABCD".index(before.target)]
        assert after.choices["ABCD".index(after.target)] == right
    counts = [sum(s.target == letter for s in shuffled) for letter in "ABCD"]
    assert min(counts) > 25
    assert len({tuple(s.choices or ()) for s in shuffled}) == 24


def test_shuffling_depends_on_seed_and_sample_only(make: Make) -> None:
    table = [row("A", q=f"q{n}") for n in range(30)]
    whole = make({"test.jsonl": table}, One, shuffle_choices=True).samples("default")
    some = make(cls=One, shuffle_choices=True, shuffle=True, options={"limit": 7})
    for sample in some.samples("default"):
        assert sample == whole[int(sample.index)]
    assert whole != make(cls=One, shuffle_choices=True, seed=1).samples("default")


def test_a_shared_table_is_shuffled_once(make: Make) -> None:
    table = [row("A", q=f"q{n}") for n in range(6)]

    class Keyed(One):
        def record_to_sample(self, record: dict[str, Any]) -> Sample:
            sample = super().record_to_sample(record)
            sample.subset_key = "default"
            return sample

    files = {"test.jsonl": table}
    adapter = make(
        files, Keyed, reformat_subset=True, shuffle_choices=True, few_shot_num=2, train_split="test"
    )
    for sample in adapter.samples("default"):
        assert sample.choices is not None
        assert sample.choices["ABCD".index(sample.target)] == "w"
        for shot in adapter.build_prompt(sample, "default").split("ANSWER: ")[1:3]:
            assert shot[0] in "ABCD"
    for shown in adapter._pool("default").samples:
        assert shown.choices["ABCD".index(shown.target)] == "w"


def test_a_question_is_asked_for_every_rotation(make: Make) -> None:
    adapter = make({"test.jsonl": [row("B"), row("A", "pq")]}, Circular)
    samples = adapter.samples("default")
    assert [
        (s.id, "".join(s.choices), s.target, s.metadata["circular_pattern"]) for s in samples
    ] == [
        ("0.0", "wxyz", "B", "ABCD"),
        ("0.1", "zwxy", "C", "BCDA"),
        ("0.2", "yzwx", "D", "CDAB"),
        ("0.3", "xyzw", "A", "DABC"),
        ("1.0", "pq", "A", "AB"),
        ("1.1", "qp", "B", "BA"),
    ]
    assert [s.index for s in samples] == [s.id for s in samples]
    assert [s.metadata["qid"] for s in samples] == ["0"] * 4 + ["1"] * 2
    assert adapter.available("default") == 6
    assert adapter.row_count("default") == 2


def test_a_limit_counts_questions(make: Make) -> None:
    table = [row("A", q=f"q{n}") for n in range(9)]
    adapter = make({"test.jsonl": table}, Circular, options={"limit": 2}, shuffle=True)
    samples = adapter.samples("default")
    assert len(samples) == 8
    assert len({s.metadata["qid"] for s in samples}) == 2
    assert adapter.available("default") == 36


def test_several_right_letters_are_rotated(make: Make) -> None:
    adapter = make({"test.jsonl": [row("AD")]}, CircularSeveral)
    assert [s.target for s in adapter.samples("default")] == ["AD", "AB", "BC", "CD"]


def test_all_versions_are_rotations_of_one_shuffled_order(make: Make) -> None:
    table = [row("C", q=f"q{n}") for n in range(20)]
    shuffled = make({"test.jsonl": table}, One, shuffle_choices=True).samples("default")
    versions = make(cls=Circular, shuffle_choices=True).samples("default")
    for n, sample in enumerate(shuffled):
        four = versions[4 * n : 4 * n + 4]
        assert four[0].choices == sample.choices
        assert {"".join(s.choices) for s in four} == {
            "".join(sample.choices[-r:] + sample.choices[:-r]) for r in range(4)
        }
        assert {s.choices["ABCD".index(s.target)] for s in four} == {"y"}
        assert sorted(s.target for s in four) == list("ABCD")


def test_no_choices_are_refused_before_they_are_rotated(make: Make) -> None:
    with pytest.raises(DataError, match="a multiple-choice sample without choices"):
        make({"test.jsonl": [row("A", "")]}, Circular).samples("default")


@given(
    st.lists(st.text(max_size=3), min_size=1, max_size=8),
    st.data(),
    st.integers(0, 1000),
)
def test_duplicate_choices_keep_the_right_one(choices: list[str], data: Any, seed: int) -> None:
    right = data.draw(st.sets(st.integers(0, len(choices) - 1), min_size=1))
    sample = Sample("q", [chr(65 + n) for n in right], choices=choices, index="3")
    meta = BenchmarkMeta(name="x", shuffle_choices=True, seed=seed)
    finished = Several(benchmark_meta=meta).finish_sample(sample, "default")
    assert finished.choices is not None
    assert sorted(finished.choices) == sorted(choices)
    shown = [finished.choices[ord(letter) - 65] for letter in finished.target]
    assert sorted(shown) == sorted(choices[n] for n in right)
    assert sample.choices == choices


@pytest.mark.parametrize(
    ("cls", "reply", "expected"),
    [
        (One, "I think so.\nANSWER: C", "C"),
        (One, "no idea", ""),
        (One, "ANSWER: E", ""),
        (Several, "ANSWER: C, A", "AC"),
    ],
)
def test_the_answer_is_a_letter(
    make: Make, cls: type[MultiChoiceAdapter], reply: str, expected: str
) -> None:
    adapter = make({"test.jsonl": [row("C")]}, cls)
    (sample,) = adapter.samples("default")
    state = TaskState("m", sample, [], ModelOutput(reply))
    assert adapter.extract_answer(reply, state) == expected
    assert adapter.filter_prediction(reply, state) == expected
