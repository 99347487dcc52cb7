from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalplug.evaluation.ifeval.length_constraints import number_words
from pytest_evalplug.evaluation.ifeval.punkt import sentences
from pytest_evalplug.evaluation.ifeval.words import words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("One. Two", ["One.", "Two"]),
        ("Mr. J. R. Smith met Dr. No.", ["Mr. J. R. Smith met Dr. No."]),
        ("He is in the U.S. The rest is not.", ["He is in the U.S.", "The rest is not."]),
        ("It is 3.14. Then 5. one", ["It is 3.14.", "Then 5. one"]),
        ('"Go!" he said. (Yes.) End', ['"Go!"', "he said.", "(Yes.)", "End"]),
        ("What?! No... yes", ["What?!", "No... yes"]),
        ("One.Two\n\nThree!!", ["One.Two\n\nThree!", "!"]),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@given(st.text() | st.text("aA.?!\"') \n-1"))
def test_sentences_are_the_text(text: str) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("IT'S fine.", ["IT", "'S", "fine", "."]),
        ('He "CANNOT" go.', ["He", "``", "CAN", "NOT", "''", "go", "."]),
        ("A--B, c:d; 5:30", ["A", "--", "B", ",", "c", ":", "d", ";", "5:30"]),
        ("U.S. Navy.\nWANNA.", ["U.S.", "Navy", ".", "WAN", "NA", "."]),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("don't stop", 3),
        ("हिन्दी भाषा", 2),
        ("e\u0301te\u0301 \u00bd 2\u00bd", 2),
        ("你好\uff0c世界", 2),
        ("\u24b6", 1),
        ("... -- !", 0),
    ],
)
def test_numbers_of_words(text: str, number: int) -> None:
    assert number_words(text, num_words=number, relation="at least")
    assert number_words(text, num_words=number + 1, relation="less than")
