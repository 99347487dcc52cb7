from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalplug.evaluation.postprocess.text import fold, general, general_cn, nfkc


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("\uff21\uff1a\uff11", "A:1"),
        ("\u24b7", "B"),
        ("a\u200b\u200e\ufeffb\x00\ud800", "ab"),
        ("a\r\nb\rc\u2028d", "a\nb\nc\nd"),
        ("\u0967\u0662", "12"),
        (None, ""),
        (0, "0"),
        (False, "False"),
    ],
)
def test_fold(value: Any, text: str) -> None:
    assert fold(value) == text


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("The Eiffel Tower.\nIt is tall.", "Eiffel Tower"),
        ("\n\n'Paris'", "Paris"),
        ("3.14", "3.14"),
        ("-5", "-5"),
        ("theatre", "theatre"),
        ("", ""),
    ],
)
def test_general(text: str, bare: str) -> None:
    assert general(text) == bare


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("\u201c\u5317 \u4eac\u201d\u3002", "\u5317\u4eac"),
        ("\u7528 GPU \u8bad\u7ec3\uff0c\u5bf9\n\u4e0d", "\u7528GPU\u8bad\u7ec3\u5bf9"),
        ("New York", "New York"),
        (None, ""),
    ],
)
def test_general_cn(text: str | None, bare: str) -> None:
    assert general_cn(text) == bare


@given(st.text())
def test_nfkc_is_nfkc_but_for_endless_marks(text: str) -> None:
    assert nfkc(text) == unicodedata.normalize("NFKC", text)


def test_nfkc_cuts_endless_marks() -> None:
    assert nfkc("e\u0301" + "\u0300" * 1000).startswith("\u00e9")
    assert len(nfkc("e" + "\u0300" * 1000)) == 30
