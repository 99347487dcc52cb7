from __future__ import annotations

from typing import Any

import pytest

from pytest_evalplug.evaluation.registry import postprocessors


@pytest.mark.parametrize(
    ("name", "reply", "options", "letters"),
    [
        ("first-capital", "see (C) or D", {}, "C"),
        ("last-capital", "see (C) or D", {}, "D"),
        ("first-capital", "The answer is B. A is wrong.", {}, "B"),
        ("last-capital", "The answer is B. Then there is C.", {}, "B"),
        ("first-capital", "I cannot say. A dog?", {}, ""),
        ("first-capital", "It is not A.", {}, ""),
        ("first-capital", "A is wrong, so perhaps C", {}, "C"),
        ("first-capital", "E or B", {"options": "ABCD"}, "B"),
        ("first-capital", "\uff22", {}, "B"),
        ("first-capital", "<think>A</think> perhaps C", {}, "C"),
        ("first-capital", "A. Paris\nB. London", {}, ""),
        ("first-capital", None, {}, ""),
        ("first-capital-multi", "Both fit: C and A.", {}, "AC"),
        ("first-capital-multi", "Answer: BD. Not A.", {}, "BD"),
        ("first-capital-multi", "DNA, then B", {}, "B"),
        ("multiple-select", "The correct options are D, and B", {}, "BD"),
        ("multiple-select", "Perhaps A", {}, ""),
    ],
)
def test_rules(name: str, reply: str | None, options: dict[str, Any], letters: str) -> None:
    assert postprocessors.get(name)(reply, **options) == letters
