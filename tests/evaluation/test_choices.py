from __future__ import annotations

from typing import Any

import pytest

from pytest_evalplug.evaluation.choices import choice_letters
from pytest_evalplug.types import Sample


@pytest.mark.parametrize(
    ("target", "choices", "expected"),
    [
        ("B", ["x", "y"], "B"),
        ("(B)", ["(A)", "(B)"], "B"),
        ("Yes", ["No", "Yes"], "B"),
        (["A", "C"], ["x", "y", "z"], ["A", "C"]),
        ("A", ["B", "A"], "A"),
        ("D", ["x", "y"], "D"),
        ("c27", [f"c{n}" for n in range(30)], "AB"),
    ],
)
def test_target_as_letter(target: Any, choices: list[str], expected: Any) -> None:
    assert choice_letters(Sample("q", target, choices=choices)) == expected
