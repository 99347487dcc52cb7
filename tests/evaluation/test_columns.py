from __future__ import annotations

from typing import Any

import pytest

from pytest_evalplug.errors import ConfigError
from pytest_evalplug.evaluation.columns import asks_for, pick_arguments, to_columns


def score(predictions: Any, references: Any, test_set: Any = None) -> None: ...


def test_columns_have_every_key_and_equal_lengths() -> None:
    assert to_columns([{"a": 1}, {"a": 2, "b": 3}]) == {"a": [1, 2], "b": [None, 3]}


def test_only_what_is_asked_for_is_picked() -> None:
    available = {"predictions": [1], "references": [2], "ppl": [3]}
    assert pick_arguments(score, available) == {"predictions": [1], "references": [2]}


def test_absent_column_is_named_with_what_there_is() -> None:
    def needs(predictions: Any, token_lens: Any) -> None: ...

    with pytest.raises(ConfigError) as error:
        pick_arguments(needs, {"predictions": [], "token_len": []})
    assert "asks for 'token_lens'" in str(error.value)
    assert "Did you mean 'token_len'?" in str(error.value)
    assert "predictions" in str(error.value)


def test_unnamed_arguments_are_refused() -> None:
    def vague(predictions: Any, **kwargs: Any) -> None: ...

    with pytest.raises(ConfigError, match="picked by name"):
        pick_arguments(vague, {"predictions": []})


def test_asks_for() -> None:
    assert asks_for(score, "test_set")
    assert not asks_for(score, "ppl")
