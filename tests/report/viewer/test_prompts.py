from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalplug.report.viewer.prompts import Shared, preview

SHOTS = "Question: what is 1 + 1?\nAnswer: 2\n\n" * 5
ASKED = {"role": "user", "content": "What is 1 + 1?"}
ANSWERED = {"role": "assistant", "content": "2"}
OTHER = {"role": "user", "content": "What is 2 + 2?"}


def test_texts_share_whole_lines() -> None:
    shared = Shared.of([f"{SHOTS}Question: a?", f"{SHOTS}Question: b?"])
    assert shared == Shared([], SHOTS)
    assert shared.cut(f"{SHOTS}Question: c?") == ("Question: c?", True)


def test_messages_share_those_at_the_beginning() -> None:
    third = {"role": "user", "content": "What is 3 + 3?"}
    shared = Shared.of([[ASKED, ANSWERED, OTHER], [ASKED, ANSWERED, third]])
    assert shared == Shared([ASKED, ANSWERED], "")
    assert shared.cut([ASKED, ANSWERED, OTHER]) == ([OTHER], True)


def test_the_last_message_may_begin_alike() -> None:
    prompts = [[{"role": "user", "content": f"{SHOTS}Question: {x}?"}] for x in "ab"]
    shared = Shared.of(prompts)
    assert shared == Shared([], SHOTS)
    assert shared.cut(prompts[1]) == ([{"role": "user", "content": "Question: b?"}], True)


@pytest.mark.parametrize(
    "prompts",
    [
        [],
        [f"{SHOTS}alone"],
        ["Question: a?", "Question: b?"],
        ["text", [ASKED]],
        [[ASKED], [ASKED]],
        [None, 3],
        [["odd"], ["odder"]],
    ],
)
def test_what_shares_nothing_worth_it(prompts: list[Any]) -> None:
    assert Shared.of(prompts) == Shared()


def test_equal_prompts_keep_their_last_line() -> None:
    shared = Shared.of([f"{SHOTS}Question: a?"] * 3)
    assert shared.cut(f"{SHOTS}Question: a?") == ("Question: a?", True)


@pytest.mark.parametrize("prompt", ["fewer shots", [ASKED], None, 3])
def test_another_prompt_is_left_whole(prompt: Any) -> None:
    shared = Shared.of([f"{SHOTS}Question: a?", f"{SHOTS}Question: b?"])
    assert shared.cut(prompt) == (prompt, False)


@given(st.lists(st.text(alphabet="ab\n", max_size=200), min_size=2, max_size=4))
def test_the_parts_make_the_whole(prompts: list[str]) -> None:
    shared = Shared.of(prompts)
    for prompt in prompts:
        own, cut = shared.cut(prompt)
        assert (shared.text if cut else "") + own == prompt


@pytest.mark.parametrize(
    ("prompt", "from_start", "shown"),
    [
        ("a\n b", True, "a b"),
        ("x" * 30, True, "x" * 10 + "…"),
        ("shots shots shots question", False, "…s question"),
        ([ASKED, {"role": "user", "content": "last"}], False, "last"),
        (None, False, ""),
        ([{"role": "user", "content": None}], False, "null"),
    ],
)
def test_preview(prompt: Any, from_start: bool, shown: str) -> None:
    assert preview(prompt, 10, from_start=from_start) == shown
