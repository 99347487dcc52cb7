from __future__ import annotations

import pytest

from pytest_evalplug.evaluation.postprocess.think import think


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
