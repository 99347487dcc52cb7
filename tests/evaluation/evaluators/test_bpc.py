from __future__ import annotations

import math
from typing import Any

import pytest

from pytest_evalplug.errors import ConfigError
from pytest_evalplug.evaluation.evaluators.bpc import BPCEvaluator

BIT = math.log(2)


def test_bits_over_characters() -> None:
    assert BPCEvaluator().score([8 * BIT, 4 * BIT], [4, 2]) == {"bpc": pytest.approx(2)}
    assert BPCEvaluator().score([[8 * BIT]], [[16]]) == {"bpc": pytest.approx(0.5)}


def test_bytes_where_the_texts_are_known() -> None:
    result = BPCEvaluator().score([[6 * BIT]], [[3]], ["\u5317"], [["\u4eac\u5e02"]])
    assert result == {"bpc": pytest.approx(2), "bpb": pytest.approx(6 / 9)}


def test_no_bytes_of_other_texts() -> None:
    for length in (2, 5):
        result = BPCEvaluator().score([6.0], [length], ["\u5317"], [["\u4eac\u5e02"]])
        assert result == {"bpc": pytest.approx(6 / BIT / length)}


@pytest.mark.parametrize(
    ("loss", "total_chr_num"),
    [
        ([], []),
        ([1.0], [1, 2]),
        ([None], [1]),
        ([float("nan")], [1]),
        ([[1.0, 2.0]], [[1, 1]]),
        ([1.0], [0]),
        ([1.0, 1.0], [-1, 5]),
        (["1.0"], [3]),
    ],
)
def test_columns_that_say_nothing(loss: Any, total_chr_num: Any) -> None:
    with pytest.raises(ConfigError):
        BPCEvaluator().score(loss, total_chr_num)
