from __future__ import annotations

import pytest

from pytest_evalplug.evaluation.mathematics.units import find_unit, is_unit


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("cm", ("cm",)),
        ("centimeters", ("cm",)),
        ("inches ^ 2", ("in", "square")),
        ("square inches", ("in", "square")),
        ("cm ^ { 3 }", ("cm", "cubic")),
        ("$", ("dollar",)),
        ("dollars per hour", ("dollar",)),
        ("degrees", ("degree",)),
        ("平方厘米", ("cm", "square")),
        ("apples", ()),
        ("", ()),
    ],
)
def test_units(text: str, unit: tuple[str, ...]) -> None:
    assert find_unit(text) == unit


@pytest.mark.parametrize(
    ("word", "unit"), [("cm", True), ("m", False), ("in", False), ("ab", False)]
)
def test_words_that_are_units(word: str, unit: bool) -> None:
    assert is_unit(word) is unit
