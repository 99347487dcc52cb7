"""Replies as chat models give them: cut where the benchmark's own stop strings cut them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import pytest

from pytest_evalplug.dataset.adapter import DefaultDataAdapter
from pytest_evalplug.dataset.letters import letters
from pytest_evalplug.types import Detail, Sample
from tests.benchmarks.expected import EXPECTED

Make: TypeAlias = Callable[..., DefaultDataAdapter]
Judge: TypeAlias = Callable[..., Detail]

LETTERED = [name for name, expected in EXPECTED.items() if expected.letters]
REPLIES = [
    "The correct answer is:\n{letter}. {choice}",
    "{letter}. {choice}",
    "Let me think about each of them.\n\nAnswer: {letter}",
    "Let me think about each of them.\n答案\uff1a{letter}",
]
FURTHER = {
    "mmlu": "\n\nWhat else?\nA. one\nB. two\nC. three\nD. four\nAnswer: {other}\n\nAnd",
    "ceval": "\n\n还有什么\uff1f\nA. 一\nB. 二\nC. 三\nD. 四\n答案\uff1a{other}\n\n又",
}


def cut(adapter: DefaultDataAdapter, reply: str) -> str:
    for stop in adapter.generation.get("stop", ()):
        reply = reply.partition(stop)[0]
    return reply


@pytest.fixture
def asked(make: Make, from_rows: Make) -> Callable[[str], tuple[DefaultDataAdapter, Sample, str]]:
    def first(name: str) -> tuple[DefaultDataAdapter, Sample, str]:
        adapter = (from_rows if EXPECTED[name].rows is None else make)(name)
        subset = "math" if name == "mmlu_pro" else adapter.subset_list[0]
        return adapter, adapter.samples(subset)[0], subset

    return first


@pytest.mark.parametrize("name", LETTERED)
def test_stops_leave_every_letter_its_answer(
    name: str,
    asked: Callable[[str], tuple[DefaultDataAdapter, Sample, str]],
    judge: Judge,
) -> None:
    adapter, sample, subset = asked(name)
    for letter, choice in zip(letters(sample), sample.choices or (), strict=True):
        right = replace(sample, target=letter)
        for form in REPLIES:
            reply = cut(adapter, form.format(letter=letter, choice=choice))
            assert judge(adapter, right, subset, reply).correct is True, (letter, form)


@pytest.mark.parametrize("name", FURTHER)
def test_a_made_up_question_is_not_answered_instead(
    name: str,
    asked: Callable[[str], tuple[DefaultDataAdapter, Sample, str]],
    judge: Judge,
) -> None:
    adapter, sample, subset = asked(name)
    for letter, other in zip("ABCD", "BCDA", strict=True):
        further = FURTHER[name].format(other=other)
        for own, pred in ((f" {letter}", letter), ("Let me repeat that.", other)):
            reply = cut(adapter, own + further)
            assert judge(adapter, sample, subset, reply).pred == pred


# --- BBH


def of_target(samples: Iterable[Sample], target: str) -> Sample:
    return next(s for s in samples if s.target == target)


@pytest.mark.parametrize(
    ("subset", "target", "reply"),
    [
        ("navigate", "No", "So the answer is **No**."),
        ("navigate", "No", "The answer is No."),
        ("sports_understanding", "Yes", "Yes."),
        ("formal_fallacies", "invalid", "The argument is, so the answer is **Invalid**."),
        ("snarks", "B", "**(B)**"),
        ("date_understanding", "B", "(B) 01/02/2003."),
        ("date_understanding", "B", "The answer is B."),
    ],
)
def test_bbh_chat_reads_what_the_published_rule_does_not(
    subset: str, target: str, reply: str, make: Make, judge: Judge
) -> None:
    adapter = make("bbh_chat")
    samples = adapter.samples(subset)
    assert judge(adapter, of_target(samples, target), subset, reply).correct is True
    other = next(s for s in samples if s.target != target)
    assert judge(adapter, other, subset, reply).correct is False
    row = int(of_target(samples, target).index)
    published = make("bbh")
    assert judge(published, published.samples(subset)[row], subset, reply).correct is False


def test_bbh_chat_agrees_with_the_references_as_published(make: Make, judge: Judge) -> None:
    adapter, published = make("bbh_chat"), make("bbh")
    rows = 0
    for subset in adapter.subsets():
        pairs = zip(adapter.samples(subset), published.samples(subset), strict=True)
        for sample, other in pairs:
            rows += 1
            for reply in (f"So the answer is {other.target}.", str(other.target)):
                detail = judge(adapter, sample, subset, reply)
                assert detail.correct is True, (subset, sample.index, reply, detail)
    assert rows == 6511


def test_bbh_chat_gives_the_paper_s_replies_their_published_verdicts(
    make: Make, judge: Judge, data_dir: Path
) -> None:
    adapter, published = make("bbh_chat"), make("bbh")
    for subset in adapter.subsets():
        text = (data_dir / f"replies/bbh/cot/{subset}.jsonl").read_text(encoding="utf-8")
        replies = [json.loads(line)["prediction"] for line in text.split("\n") if line]
        rows = zip(adapter.samples(subset), published.samples(subset), replies, strict=True)
        for sample, other, reply in rows:
            detail = judge(adapter, sample, subset, reply)
            expected = judge(published, other, subset, reply).correct
            assert detail.correct is expected, (subset, sample.index, detail)


def test_bbh_chat_asks_as_bbh_does(make: Make) -> None:
    adapter, published = make("bbh_chat"), make("bbh")
    for subset in adapter.subsets():
        asked, other = adapter.samples(subset)[-1], published.samples(subset)[-1]
        prompt = published.build_prompt(other, subset)
        assert adapter.build_prompt(asked, subset) == prompt
