from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_evalplug.evaluation.postprocess.option import first_option, last_option


@pytest.mark.parametrize("extract", [first_option, last_option])
def test_labelled_cases(
    cases: Callable[[str], list[dict[str, Any]]], extract: Callable[..., str]
) -> None:
    rows = cases("option_letter")
    found = {r["id"]: extract(r["input"], options=r["options"], multi=r["multi"]) for r in rows}
    assert found == {r["id"]: r["expected"] for r in rows}


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        # claims
        ("The answer is Paris (B).", "B"),
        ("The answer is 12.5 m, which is option C.", "C"),
        ("Answer: 12 J (D)", "D"),
        ("The answer to this question is C.", "C"),
        ("The correct answer is:\n\n**C. Rome**", "C"),
        ("I would choose B here.", "B"),
        ("I'll go with (D).", "D"),
        ("Therefore, B.", "B"),
        ("So the answer must be option B", "B"),
        ("Wait. Answer: C", "C"),
        ("故选D。", "D"),
        ("所以应选择B", "B"),
        ("正确选项为【C】", "C"),
        ("La respuesta correcta es B.", "B"),
        ("Die richtige Antwort lautet C.", "C"),
        ("답은 C입니다.", "C"),
        ("\\[\\boxed{\\textbf{(B)}}\\]", "B"),
        ("\\boxed{B. 42}", "B"),
        ("[[B]]", "B"),
        ("ANSWER = c", "C"),
        # claims that are none
        ("The answer is not B.", ""),
        ("I don't think the answer is B.", ""),
        ("If the answer is B, then x = 2.", ""),
        ("The answer is a car.", ""),
        ("The answer is A = 5 square metres.", ""),
        ("The answer is C = 5, so it is D.", "D"),
        ("Answer: A or B", ""),
        ("不选B", ""),
        ("Answer: none", ""),
        ("B is not correct.", ""),
        ("Neither A nor B is correct.", ""),
        ("The answer cannot be B.", ""),
        # the letter alone
        ("(c)", "C"),
        ("B\nBecause it is round.", "B"),
        ("B, because it is round.", "B"),
        ("C: the third one", "C"),
        ("It is round.\nB", "B"),
        ("It is round.\nB. London", "B"),
        ("A. x\nB. y\nC. z\nD. w\n\nB. y", "B"),
        ("A\nB\nC\nD", ""),
        ("D is a letter, and so on and so forth", ""),
        # remarks after the claim
        ("Answer: C\nExplanation: A is true, and B is true too.", "C"),
        # the question restated
        ("Let me see.\n\n**Question:** which?\nA. x\nB. y\nThe answer is B.", "B"),
        ("No idea.\n\nQuestion: 1?\nAnswer: A\n\nQuestion: 2?\nAnswer: B", ""),
    ],
)
def test_rules(reply: str, letter: str) -> None:
    assert first_option(reply) == letter


@pytest.mark.parametrize(
    ("reply", "letters"),
    [
        ("The correct options are A and D.", "AD"),
        ("答案\uff1aBD", "BD"),
        ("A\nC", "AC"),
        ("Answer: A, B. C is wrong.", "AB"),
        ("Answer: B", "B"),
        ("BAD", ""),
    ],
)
def test_several(reply: str, letters: str) -> None:
    assert first_option(reply, multi=True) == letters


def test_first_and_last_line() -> None:
    reply = "A\nThat was rash, it should read:\nC"
    assert (first_option(reply), last_option(reply)) == ("A", "C")


def test_options_may_be_a_list_and_lower_case() -> None:
    assert first_option("Answer: B", options=["a", "b"]) == "B"
