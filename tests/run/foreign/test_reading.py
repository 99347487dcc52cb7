from __future__ import annotations

import pytest

from pytest_evalplug.run.foreign.reading import agrees


@pytest.mark.parametrize(
    ("value", "mean", "scale", "wanted"),
    [
        (66.67, 200 / 3, 100, True),
        (66.7, 200 / 3, 100, True),
        (66.66666666666667, 200 / 3, 100, True),
        (66.66, 200 / 3, 100, False),
        (67.0, 200 / 3, 100, False),
        (67, 200 / 3, 100, False),
        (0.6667, 2 / 3, 1, True),
        (0.67, 2 / 3, 1, False),
        (0.5, 0.47, 1, False),
        (1e-05, 1e-05, 1, True),
        (3e22, 3e22, 1, True),
        (3e22, 2, 1, False),
    ],
)
def test_a_value_is_a_mean_as_far_as_its_digits_go(
    value: float, mean: float, scale: float, wanted: bool
) -> None:
    assert agrees(value, mean, scale) is wanted
