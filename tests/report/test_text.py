from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalplug.report.text import (
    clean,
    ending,
    question_of,
    shorten,
    wrong_answer_text,
)


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("plain, ünïcode 🎉", "plain, ünïcode 🎉"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("\x1b[31mred", r"\x1b[31mred"),
        ("a\x00b", r"a\x00b"),
        ("a\u2028b\x85", r"a\u2028b\x85"),
        ("\ud800", r"\ud800"),
        ("\u202egnp", r"\u202egnp"),
        ("cr\r\n", "cr\\r\n"),
        (7, "7"),
        (None, "None"),
        (["a\x1b"], r"['a\x1b']"),
    ],
)
def test_clean(text: Any, cleaned: str) -> None:
    assert clean(text) == cleaned


@given(st.text(st.characters(codec=None)))
def test_clean_text_fits_a_terminal_and_xml(text: str) -> None:
    cleaned = clean(text)
    assert clean(cleaned) == cleaned
    assert all(char.isprintable() or char in "\n\t" for char in cleaned)
    element = ElementTree.Element("p", value=cleaned)
    read = ElementTree.fromstring(ElementTree.tostring(element, encoding="utf-8"))
    assert read.get("value") == cleaned


def test_ending_keeps_the_end() -> None:
    assert ending("x" * 300 + " is 4", 10) == "… xxxxx is 4"
    assert ending("  short \n") == "short"


@given(st.text("ab :\n\t\x1b\x1c\ud800\u202e", max_size=40), st.integers(1, 12))
def test_only_the_ending_need_be_looked_at(text: str, length: int) -> None:
    whole = clean(text).strip()
    expected = whole if len(whole) <= length else f"… {whole[-length:].lstrip()}"
    shown = ending(text, length)
    assert clean(shown) == shown
    assert len(shown) <= length + 2
    if ":" not in text:  # one that begins what is shown may be escaped, though no command in all
        assert shown == expected


def test_shorten_says_what_is_left_out() -> None:
    assert shorten("abcdef", 4) == "abcd… (2 more characters)"
    assert shorten("abcd", 4) == "abcd"


def test_question_of_a_conversation_is_its_last_message() -> None:
    assert (
        question_of([{"role": "system", "content": "s"}, {"role": "user", "content": "q"}]) == "q"
    )
    assert question_of("q") == "q"
    assert question_of([]) == "[]"


def test_a_wrong_answer_is_four_labelled_rows() -> None:
    evaluation: Any = SimpleNamespace(
        record={"origin_prompt": "one\ntwo", "prediction": "\x1b[2Jx"}, pred="x", reference=["a"]
    )
    assert wrong_answer_text(evaluation).splitlines() == [
        "question:  one",
        "           two",
        r"reply:     \x1b[2Jx",
        "pred:      x",
        "reference: ['a']",
    ]
