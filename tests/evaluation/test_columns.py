from __future__ import annotations

from typing import Any

import pytest

from pytest_evalplug.errors import ConfigError
from pytest_evalplug.evaluation.columns import (
    TestSet,
    asks_for,
    named_parameters,
    pick_arguments,
    to_columns,
    with_derived,
)


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

    def positional(predictions: Any, /) -> None: ...

    for function in (vague, positional):
        with pytest.raises(ConfigError, match="picked by name"):
            pick_arguments(function, {"predictions": []})
        with pytest.raises(ConfigError, match=r"where: .*picked by name"):
            named_parameters(function, where="where")
    named_parameters(score)


CHAT = [
    {"role": "system", "content": "ab"},
    {"role": "assistant", "content": None, "tool_calls": []},
    {"role": "user", "content": [{"type": "text", "text": "cde"}, {"type": "image_url"}]},
]


@pytest.mark.parametrize(
    ("record", "derived"),
    [
        (
            {"origin_prompt": "Why?", "prediction": "Because é"},
            {"prompt": "Why?", "all_input_length": 4, "res_length": 9},
        ),
        ({"origin_prompt": CHAT}, {"prompt": CHAT, "all_input_length": 5}),
        ({"prediction": ["a", "bcd"]}, {"res_length": [1, 3]}),
        ({"prediction": None}, {"res_length": 0}),
        ({"origin_prompt": "p", "prompt": "own", "all_input_length": 7}, {}),
        ({}, {}),
    ],
)
def test_what_follows_from_a_record(record: dict[str, Any], derived: dict[str, Any]) -> None:
    assert with_derived(record) == {**record, **derived}


def test_asks_for() -> None:
    assert asks_for(score, "test_set")
    assert not asks_for(score, "ppl")


def test_a_test_set_is_read_as_a_dataset() -> None:
    rows = TestSet([{"q": 1, "a": "x"}, {"q": 2.5}, {"q": "3", "a": None}])
    assert len(rows) == 3
    assert [row["q"] for row in rows] == rows["q"] == [1, 2.5, "3"]
    assert rows["a"] == ["x", None, None]
    assert rows[-1] == {"q": "3", "a": None}
    assert rows[:2] == {"q": [1, 2.5], "a": ["x", None]}
    assert rows.column_names == ["q", "a"]
    assert rows.select([2, 0])["q"] == ["3", 1]
    with pytest.raises(ConfigError, match=r"no column 'qq'\. Did you mean 'q'"):
        rows["qq"]
