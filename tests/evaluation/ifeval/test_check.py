from __future__ import annotations

import random
import time
from typing import Any

import langdetect
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_evalplug.errors import DataError
from pytest_evalplug.evaluation.ifeval.check import INSTRUCTIONS, follow

ARGUMENTS: dict[str, dict[str, Any]] = {
    "change_case:capital_word_frequency": dict(capital_frequency=3, capital_relation="at least"),
    "combination:repeat_prompt": dict(prompt_to_repeat="Say it."),
    "detectable_content:number_placeholders": dict(num_placeholders=10**9),
    "detectable_content:postscript": dict(postscript_marker="P.P.S"),
    "detectable_format:multiple_sections": dict(section_spliter="Section", num_sections=10**9),
    "detectable_format:number_bullet_lists": dict(num_bullets=-1),
    "detectable_format:number_highlighted_sections": dict(num_highlights=10**9),
    "keywords:existence": dict(keywords=["tea", "C++"]),
    "keywords:forbidden_words": dict(forbidden_words=["tea", "(a"]),
    "keywords:frequency": dict(keyword="tea", frequency=3, relation="at least"),
    "keywords:letter_frequency": dict(letter="q", let_frequency=3, let_relation="at least"),
    "language:response_language": dict(language="de"),
    "length_constraints:nth_paragraph_first_word": dict(
        num_paragraphs=1, nth_paragraph=1, first_word="tea"
    ),
    "length_constraints:number_paragraphs": dict(num_paragraphs=-1),
    "length_constraints:number_sentences": dict(num_sentences=10**9, relation="at least"),
    "length_constraints:number_words": dict(num_words=10**9, relation="at least"),
    "startend:end_checker": dict(end_phrase="tea"),
}


@pytest.mark.parametrize("name", INSTRUCTIONS)
@settings(deadline=None)  # the detector loads its profiles once
@given(reply=st.text() | st.text("aA.?!*-[]<>\"' \n\r,1"))
def test_any_reply_has_a_verdict(name: str, reply: str) -> None:
    followed = follow(name, ARGUMENTS.get(name, {}), reply)
    assert type(followed.strict) is type(followed.loose) is bool
    assert followed.loose >= followed.strict


@pytest.mark.parametrize("reply", ["", " ", "\n\n", "\u2003"])
@pytest.mark.parametrize("name", INSTRUCTIONS)
def test_a_blank_reply_follows_nothing(name: str, reply: str) -> None:
    assert follow(name, ARGUMENTS.get(name, {}), reply) == (name, False, False)


@pytest.mark.parametrize(
    ("reply", "loose"),
    [
        ("yes,\nno", True),
        ("no\nyes,", True),
        ("yes,\nno\nyes,", True),
        ("no\nyes,\nno", False),
        ("yes,", False),
    ],
)
def test_loose_forgives_the_first_and_the_last_line(reply: str, loose: bool) -> None:
    assert follow("punctuation:no_comma", {}, reply) == ("punctuation:no_comma", False, loose)


def test_loose_forgives_asterisks() -> None:
    assert follow("startend:end_checker", {"end_phrase": "Bye."}, "**Bye.**")[1:] == (False, True)


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("punctuation:no_coma", {}, "unknown instruction.*punctuation:no_comma"),
        ("punctuation:no_comma", {"letter": "a"}, "has the arguments letter.*takes none"),
        ("startend:end_checker", {"end_phrase": None}, "has the arguments none.*takes end_phrase"),
        ("keywords:frequency", {"keyword": "a", "frequency": 1, "relation": "most"}, "relation"),
    ],
)
def test_wrong_data_is_an_error(name: str, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        follow(name, arguments, "a")


def test_json_nested_too_deep_is_none() -> None:
    assert not follow("detectable_format:json_format", {}, "[" * 200_000).loose


def test_a_verdict_on_languages_is_the_same_every_time() -> None:
    seed = langdetect.DetectorFactory.seed
    verdicts = set()
    for i in range(20):
        random.seed(i)
        verdicts.add(follow("language:response_language", {"language": "en"}, "taxi hotel bar"))
    assert len(verdicts) == 1
    assert langdetect.DetectorFactory.seed is seed


HOSTILE = [
    " ",
    "\n",
    "*",
    "*\n",
    "- ",
    "[",
    "<<",
    ". ",
    "!\n",
    "A. ",
    ". . ",
    '."',
    "a@",
    "P. ",
    "{",
]


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_replies_take_linear_time(piece: str) -> None:
    reply = f"x.{piece * (40_000 // len(piece))}.a"
    started = time.process_time()
    for name in INSTRUCTIONS:
        follow(name, ARGUMENTS.get(name, {}), reply)
    assert time.process_time() - started < 20  # what is quadratic takes minutes
