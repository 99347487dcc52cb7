from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_evalplug.evaluation.postprocess.think import split_reasoning, think


def test_labelled_cases(cases: Callable[[str], list[dict[str, Any]]]) -> None:
    for row in cases("reasoning"):
        text, truncated = split_reasoning(row["input"])
        assert (text.strip(), truncated) == (row["expected_text"].strip(), row["truncated"]), row


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("Intro <think>x</think> end", "Intro  end"),
        ("Intro <think>x", "Intro"),
        ("<|channel|>analysis<|message|>so far", ""),
        ("<|begin_of_thought|>x<|end_of_thought|>y", "y"),
        ("<THINK>x</THINK> y", "y"),
        (None, ""),
        (" kept as it is ", " kept as it is "),
    ],
)
def test_rules(reply: str | None, answer: str) -> None:
    assert think(reply) == answer
