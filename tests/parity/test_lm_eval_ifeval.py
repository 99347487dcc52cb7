"""IFEval against lm-evaluation-harness (make_ifeval.py wrote what it says), and real replies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_evalplug.evaluation.evaluators.ifeval import IFEvaluator
from pytest_evalplug.evaluation.ifeval.check import INSTRUCTIONS, follow
from tests.parity.ifeval_replies import HARD, ROWS, synthetic

EXPECTED = json.loads(Path(__file__).with_name("ifeval.json").read_text("utf-8"))
REPLIES = [(name, reply) for name, group in HARD.items() for reply in group]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


@pytest.fixture(scope="module")
def rows(data_dir: Path) -> list[dict[str, Any]]:
    return lines(data_dir / "ifeval" / "train.jsonl")


def verdict(row: dict[str, Any], reply: str) -> str:
    followed = [
        follow(name, kwargs, reply)
        for name, kwargs in zip(row["instruction_id_list"], row["kwargs"], strict=True)
    ]
    return "".join(str(f.strict + f.loose) for f in followed)


@pytest.mark.parametrize("name", ROWS)
def test_hard_replies(name: str, rows: list[dict[str, Any]]) -> None:
    (row,) = (row for row in rows if row["key"] == ROWS[name])
    assert row["instruction_id_list"] == [name]
    wrong = [
        (about, reply, expected)
        for (about, reply), expected in zip(REPLIES, EXPECTED["hard"][name], strict=True)
        if verdict(row, reply) != expected
    ]
    assert wrong == []


def test_hard_replies_are_hard() -> None:
    assert sorted(HARD) == sorted(ROWS) == sorted(INSTRUCTIONS)
    for name in ROWS:
        own = {
            expected
            for (about, _), expected in zip(REPLIES, EXPECTED["hard"][name], strict=True)
            if about == name
        }
        assert {"0", "2"} <= own, name
        assert len(HARD[name]) >= 6


def test_every_row(rows: list[dict[str, Any]]) -> None:
    replies = synthetic([row["prompt"] for row in rows])
    assert len(rows) == len(EXPECTED["synthetic"]) == 541
    drawn = 0
    for row, texts, expected in zip(rows, replies, EXPECTED["synthetic"], strict=True):
        for reply, wanted in zip(texts, expected.split(" "), strict=True):
            ours = verdict(row, reply)
            drawn += wanted.count("?")
            known = "".join(o if w != "?" else w for o, w in zip(ours, wanted, strict=True))
            assert known == wanted, (row["key"], reply)
    assert drawn == 2 * 3


@pytest.mark.parametrize("model", ["qwen-plus", "qwen3-max"])
def test_real_replies(model: str, data_dir: Path) -> None:
    reviews = lines(data_dir / "replies" / "reviews" / f"{model}_ifeval_default.jsonl")
    assert len(reviews) == 10
    for review in reviews:
        published = review["sample_score"]["score"]
        ours = IFEvaluator().score(
            [published["prediction"]], test_set=[review["sample_score"]["sample_metadata"]]
        )
        for name, value in published["value"].items():
            assert ours[f"{name}_acc"] == pytest.approx(100 * value), (review["index"], name)
