"""Every row of every shipped benchmark becomes a Sample that can be answered right."""

from __future__ import annotations

import ast
import random
from collections import Counter
from collections.abc import Callable
from itertools import repeat
from pathlib import Path
from string import ascii_uppercase
from typing import TypeAlias

import pytest

from pytest_evalplug.dataset.adapter import DefaultDataAdapter
from pytest_evalplug.dataset.catalogue import find
from pytest_evalplug.dataset.ids import item_ids
from pytest_evalplug.errors import NotApplicable
from pytest_evalplug.types import Detail
from tests.benchmarks.expected import EXPECTED, names

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
Make: TypeAlias = Callable[..., DefaultDataAdapter]
AtHand: TypeAlias = Callable[[DefaultDataAdapter], list[str]]
Judge: TypeAlias = Callable[..., Detail]


def test_all_are_here(shipped: dict[str, type[DefaultDataAdapter]]) -> None:
    assert sorted(shipped) == sorted(EXPECTED)


@pytest.mark.parametrize("path", sorted(BENCHMARKS.glob("test_*.py")), ids=lambda p: str(p.stem))
def test_module_begins_with_a_short_data_sheet(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    sheet = ast.get_docstring(ast.parse(source)) or ""
    for heading in ("Paper", "Licence", "Data", "Prompt", "Metric", "Score"):
        assert f"\n{heading} " in sheet
    assert len(sheet.splitlines()) <= 30
    assert len(source.splitlines()) <= 170


@pytest.mark.parametrize("name", EXPECTED)
def test_meta_is_a_data_sheet_too(name: str, shipped: dict[str, type[DefaultDataAdapter]]) -> None:
    meta = shipped[name].__evalplug_meta__
    assert meta.pretty_name
    assert meta.description.endswith(".")
    assert meta.description_zh.endswith("。")
    assert meta.tags
    assert meta.license
    assert meta.paper_url.startswith("https://arxiv.org/abs/") or name.startswith("demo")
    assert meta.generation["temperature"] == 0
    assert len(meta.subset_list) == EXPECTED[name].subsets


@pytest.mark.parametrize("name", names())
def test_every_row_becomes_a_sample(name: str, make: Make, at_hand: AtHand) -> None:
    adapter = make(name)
    subsets = at_hand(adapter)
    expected = EXPECTED[name]
    assert len(subsets) == (expected.at_hand or expected.subsets)
    for subset in subsets:
        samples = adapter.samples(subset)
        assert [s.index for s in samples] == [str(i) for i in range(adapter.row_count(subset))]
        assert all(s.input and s.target for s in samples)
        assert len(set(item_ids(samples, subset))) == len(samples)
    assert sum(len(adapter.samples(s)) for s in subsets) == expected.rows


@pytest.mark.parametrize("name", names(lambda e: e.subsets > 1 and e.at_hand is None))
def test_the_sheet_counts_the_rows_of_all_subsets(name: str) -> None:
    assert find(name).published_samples() == f"{EXPECTED[name].rows:,} in all"


@pytest.mark.parametrize("name", names(lambda e: e.right is not None))
def test_a_right_reply_is_right(name: str, make: Make, at_hand: AtHand, judge: Judge) -> None:
    adapter, right = make(name), EXPECTED[name].right
    assert right
    for subset in at_hand(adapter):
        for sample in adapter.samples(subset):
            detail = judge(adapter, sample, subset, right(sample))
            assert detail.correct is True, (subset, sample.index, detail.pred, detail.answer)


@pytest.mark.parametrize("name", names(lambda e: e.right is not None))
def test_an_empty_reply_and_a_refusal_are_wrong(
    name: str, make: Make, at_hand: AtHand, judge: Judge
) -> None:
    adapter = make(name)
    for subset in at_hand(adapter):
        for sample in adapter.samples(subset)[:20]:
            for reply in ("", "I cannot help with that."):
                assert judge(adapter, sample, subset, reply).correct is False, (subset, reply)


@pytest.mark.parametrize("name", names(lambda e: e.letters))
def test_a_constant_letter_scores_its_share(
    name: str, make: Make, at_hand: AtHand, judge: Judge
) -> None:
    adapter = make(name)
    for subset in at_hand(adapter):
        samples = [s for s in adapter.samples(subset) if s.choices]
        for letter in "AD":
            replies = [f"The answer is {letter}."] * len(samples)
            details = [
                judge(adapter, sample, subset, reply)
                for sample, reply in zip(samples, replies, strict=True)
            ]
            share = sum(s.target == letter for s in samples)
            assert sum(d.correct is True for d in details) == share, (subset, letter)


@pytest.mark.parametrize("name", names(lambda e: e.letters))
def test_shuffled_answers_score_near_chance(
    name: str, make: Make, at_hand: AtHand, judge: Judge
) -> None:
    adapter, right, chance, variance = make(name), 0, 0.0, 0.0
    for subset in at_hand(adapter):
        samples = [s for s in adapter.samples(subset) if s.choices]
        counts = Counter(str(s.target) for s in samples)
        replies = [f"The answer is {s.target}." for s in samples]
        random.Random(subset).shuffle(replies)
        details = map(judge, repeat(adapter), samples, repeat(subset), replies)
        right += sum(d.correct is True for d in details)
        shares = [count / len(samples) for count in counts.values()]
        chance += len(samples) * sum(share**2 for share in shares)
        variance += len(samples) * sum(share**2 * (1 - share) for share in shares)
    assert abs(right - chance) < 5 * variance**0.5


@pytest.mark.parametrize("name", names(lambda e: e.choices and e.right is not None))
def test_the_likeliest_choice_is_judged(
    name: str, make: Make, at_hand: AtHand, judge: Judge
) -> None:
    adapter = make(name, "ll")
    for subset in at_hand(adapter):
        for sample in adapter.samples(subset):
            try:
                query = adapter.build_query(sample, subset)
            except NotApplicable:
                continue
            labels = ascii_uppercase[: len(query.continuations)]
            verdicts = [
                judge(adapter, sample, subset, label, pred_label=label).correct for label in labels
            ]
            assert verdicts.count(True) == 1, (subset, sample.index)


def test_likelihood_is_left_out_where_no_one_choice_is_right(make: Make) -> None:
    left_out: Counter[str] = Counter()
    for name in ("agieval", "bbh"):
        adapter = make(name)
        for subset in adapter.subsets():
            for sample in adapter.samples(subset):
                try:
                    adapter.build_query(sample, subset)
                except NotApplicable:
                    left_out[subset] += 1
    assert left_out == {
        # several right letters
        "gaokao-mathqa": 7,
        "gaokao-physics": 35,
        # free answers
        "gaokao-mathcloze": 118,
        "math": 1000,
        "boolean_expressions": 250,
        "dyck_languages": 250,
        "multistep_arithmetic_two": 250,
        "object_counting": 250,
        "sports_understanding": 250,
        "web_of_lies": 250,
        "word_sorting": 250,
        # lists of options that a comma broke apart
        "movie_recommendation": 1,
        "ruin_names": 2,
    }
