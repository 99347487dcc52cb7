from __future__ import annotations

import pytest

from pytest_evalplug.errors import ConfigError
from pytest_evalplug.evaluation.regex_filter import RegexFilter

GSM8K = r"(-?[0-9.,]{2,})|(-?[0-9]+)"


@pytest.mark.parametrize(
    ("select", "reply", "expected"),
    [
        (-1, "12 eggs less 3 are 9", "9"),
        (0, "12 eggs less 3 are 9", "12"),
        (1, "12 eggs less 3 are 9", "3"),
        (-1, "She makes $1,018.", "1,018."),
        (5, "12 eggs", "none"),
        (-1, "no number", "none"),
        (0, None, "none"),
    ],
)
def test_the_selected_match(select: int, reply: str | None, expected: str) -> None:
    find = RegexFilter(regex_pattern=GSM8K, group_select=select, fallback="none")
    assert find(reply) == expected


def test_by_default_the_first_match_or_nothing() -> None:
    assert RegexFilter(GSM8K)("1 2") == "1"
    assert RegexFilter(GSM8K)("") == ""


def test_a_pattern_that_is_none() -> None:
    with pytest.raises(ConfigError, match="unterminated"):
        RegexFilter("(a")("a")
