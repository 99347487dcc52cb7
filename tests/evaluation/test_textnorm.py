from __future__ import annotations

import doctest
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalplug.evaluation import textnorm
from pytest_evalplug.evaluation.textnorm import is_chinese, normalize_answer, tokens, words


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("The  Spice-Girls!", "spicegirls"),
        ("a+b", "a+b"),
        ("it is +5", "it is 5"),
        ("I am, AND a man", "i am and man"),
        ("\uff30\uff41\uff52\uff49\uff53", "paris"),
        ("Pa\u200bris\u200f", "paris"),
        ("the\nend", "end"),
        ("\u5317\u4eac\u3001\u4e0a\u6d77", "\u5317\u4eac\u4e0a\u6d77"),
        ("a\u80a1", "a\u80a1"),  # an article only as a word
        ("", ""),
    ],
)
def test_normalisation(text: str, normal: str) -> None:
    assert normalize_answer(text) == normal


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("-3.50.", "-3.50"),
        ("\u22125", "-5"),
        ("\u20135", "-5"),
        ("(-5)", "-5"),
        ("-$5", "-5"),
        ("-.5", "-.5"),
        (".5", ".5"),
        ("$.50", ".50"),
        ("1,000.5", "1000.5"),
        ("\uff0d\uff13\uff0e\uff11\uff14", "-3.14"),
        ("\u0663\u0664", "34"),
        ("...5", "5"),
        ("1e-5", "1e-5"),
        ("Type-5", "type5"),
        ("No.5", "no5"),
        ("2010-2012", "20102012"),
        ("5.", "5"),
        ("it fell to -3, then 2.5!", "it fell to -3 then 2.5"),
    ],
)
def test_what_belongs_to_a_number(text: str, normal: str) -> None:
    assert normalize_answer(text) == normal


@pytest.mark.parametrize(
    ("text", "normal"),
    [("The", "the"), ("A.", "a"), ("?!", "?!"), ("\u3002", "\u3002"), (" + ", "+"), (" \n ", "")],
)
def test_nothing_is_normalised_away(text: str, normal: str) -> None:
    assert normalize_answer(text) == normal


@given(st.text())
def test_normalising_twice_changes_no_words(text: str) -> None:
    normal = normalize_answer(text)
    assert normal == " ".join(normal.split())
    assert bool(normal) or not tokens(text.strip("\x00")) or not text.isprintable()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Hello, World!", ["hello", "world"]),
        ("don't", ["don", "t"]),
        ("cafe\u0301", ["caf\u00e9"]),
        ("\u0906\u091c \u092e\u094c\u0938\u092e", ["\u0906\u091c", "\u092e\u094c\u0938\u092e"]),
        ("\uc624\ub298 \ub0a0\uc528", ["\uc624\ub298", "\ub0a0\uc528"]),
        ("GPT4\u5f88\u597d", ["gpt4", "\u5f88", "\u597d"]),
        ("\u30c6\u30b9\u30c8", ["\u30c6", "\u30b9", "\u30c8"]),
        ("\u0e14\u0e35", ["\u0e14", "\u0e35"]),
        ("snake_case", ["snake", "case"]),
        ("...", []),
        ("", []),
    ],
)
def test_words(text: str, found: list[str]) -> None:
    assert words(text) == found


@given(st.text())
def test_every_letter_and_digit_is_in_a_word(text: str) -> None:
    letters = [c for c in text if (c.isalpha() and c.isascii()) or c.isdecimal()]
    assert len("".join(words(text))) >= len(letters)


@pytest.mark.parametrize(
    ("text", "chinese"),
    [
        ("\u4eca\u5929\u5929\u6c14\u5f88\u597d\u3002", True),
        ("GDP\u589e\u957f", False),
        ("\u4e2d\u56fdGDP\u6301\u7eed\u589e\u957f", True),
        ("The word \u4f60\u597d means hello", False),
        ("\u4eca\u65e5\u306f\u826f\u3044\u5929\u6c17\u3067\u3059\u306d", False),
        ("", False),
        ("?!", False),
    ],
)
def test_chinese_is_told_by_its_script(text: str, chinese: bool) -> None:
    assert is_chinese(text) is chinese


@pytest.mark.parametrize("unit", ["-.", "1,", "a/", "\u0301", "\u4e2d ", "the ", "_", "\u2212$"])
def test_hostile_text_takes_linear_time(unit: str) -> None:
    text = unit * (300_000 // len(unit))
    started = time.perf_counter()
    tokens(normalize_answer(text))
    words(text)
    assert time.perf_counter() - started < 20


def test_the_examples_are_true() -> None:
    result = doctest.testmod(textnorm)
    assert result.attempted
    assert not result.failed
