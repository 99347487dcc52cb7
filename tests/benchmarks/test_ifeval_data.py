"""IFEval: every row, its prompt as it stands, and the traps in its data."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from pytest_evalplug.dataset.adapter import DefaultDataAdapter
from pytest_evalplug.types import Detail, Sample

Make: TypeAlias = Callable[..., DefaultDataAdapter]
Judge: TypeAlias = Callable[..., Detail]


def samples(make: Make) -> dict[int, Sample]:
    found = make("ifeval").samples("default")
    return {(s.metadata or {})["key"]: s for s in found}


def test_prompts_stand_as_they_are(make: Make, data_dir: Path) -> None:
    text = (data_dir / "ifeval" / "train.jsonl").read_text(encoding="utf-8")
    rows: list[dict[str, Any]] = [json.loads(line) for line in text.split("\n") if line]
    adapter = make("ifeval")
    prompts = [adapter.build_prompt(sample, "default") for sample in adapter.samples("default")]
    assert prompts == [row["prompt"] for row in rows]
    assert sum(p != str(p).strip() for p in prompts) == 4


def test_instructions_given_twice_keep_their_own_arguments(make: Make, judge: Judge) -> None:
    twice = [s for s in samples(make).values() if len(set(s.target)) < len(s.target)]
    assert len(twice) == 17
    sample = samples(make)[1040]
    detail = judge(make("ifeval"), sample, "default", "Nothing of it.")
    assert detail.metadata
    names = [entry["instruction"] for entry in detail.metadata["instructions"]]
    assert names == sample.target


def test_signs_are_counted_as_letters_are(make: Make, judge: Judge) -> None:
    for key, sign in ((1122, "#"), (1129, "!")):
        sample = samples(make)[key]
        position = sample.target.index("keywords:letter_frequency")
        for number in (0, 200):
            detail = judge(make("ifeval"), sample, "default", f"word {sign * number}")
            arguments = (sample.metadata or {})["kwargs"][position]
            assert detail.metadata
            followed = detail.metadata["instructions"][position]["strict"]
            few = arguments["let_relation"] == "less than"
            assert followed is ((number == 0) == few)


def test_a_blank_reply_follows_nothing(make: Make, judge: Judge) -> None:
    adapter = make("ifeval")
    for sample in adapter.samples("default"):
        for reply in ("", " \n"):
            detail = judge(adapter, sample, "default", reply)
            assert detail.correct is False
            assert set(detail.score.values()) == {0.0}
