from __future__ import annotations

import pytest

from pytest_evalplug.dataset.letters import label, letters
from pytest_evalplug.errors import DataError
from pytest_evalplug.types import Sample


@pytest.mark.parametrize(
    ("position", "expected"), [(0, "A"), (25, "Z"), (26, "AA"), (27, "AB"), (701, "ZZ")]
)
def test_label(position: int, expected: str) -> None:
    assert label(position) == expected


def test_letters_end_with_z() -> None:
    assert letters(Sample("", "", choices=["x"] * 26)) == "".join(map(label, range(26)))
    assert letters(Sample("", "")) == ""
    with pytest.raises(DataError, match="27 choices, but there are only 26 letters"):
        letters(Sample("", "", choices=["x"] * 27))
