from __future__ import annotations

import doctest
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalplug.evaluation.judge import verdict
from pytest_evalplug.evaluation.judge.verdict import read_score, read_verdict

AB = ["A", "B"]
ABC = ["A", "B", "C"]
CI = ["CORRECT", "INCORRECT"]
FIVE = ["1", "2", "3", "4", "5"]


def test_examples() -> None:
    result = doctest.testmod(verdict)
    assert result.attempted
    assert not result.failed


@pytest.mark.parametrize(
    ("reply", "labels", "expected"),
    [
        ("INCORRECT. The value is wrong", CI, "INCORRECT"),
        ("The verdict is not CORRECT.", CI, ""),
        ("The response is INCORRECT because the sum is off.", CI, "INCORRECT"),
        ("It isn't CORRECT.", CI, ""),
        ("I can't say whether it's CORRECT.", CI, ""),
        ("The candidate cannot count, so the verdict is INCORRECT.", CI, "INCORRECT"),
        ('{"verdict": "A", "reason": "better"}', AB, "A"),
        ('{"reason": "It says Grade: A", "grade": "B"}', AB, "B"),
        ('```json\n{"score": 1, "verdict": "INCORRECT"}\n```', CI, "INCORRECT"),
        ('"A"', AB, "A"),
        ("**Verdict**: **B**", AB, "B"),
        ("## Verdict\n\nB", AB, "B"),
        ("Verdict: A or B?", AB, ""),
        ("Grade: [A/B]", AB, ""),
        (r"\boxed{\text{B}}", AB, "B"),
        ("Assistant A was verbose. [[C]]", ABC, "C"),
        ("Final verdict: [[B]] - no: [[A]]", AB, "A"),
        ("yes", ["YES", "NO"], "YES"),
        ("No, it does not match.", ["YES", "NO"], "NO"),
        ("Verdict: PARTIALLY CORRECT", [*CI, "PARTIALLY CORRECT"], "PARTIALLY CORRECT"),
        ("最终判断：不正确", ["正确", "不正确"], "不正确"),
        ("A: good\nB: bad", AB, ""),
        ("A. This answer matches.", AB, "A"),
        ("a", AB, "A"),
        ("The answer is correct.", CI, "CORRECT"),
        ("The answer to the question is incorrect.", CI, "INCORRECT"),
        ("7 is not 8. So the answer is **incorrect**.", CI, "INCORRECT"),
        ("The answer is correct in form. The sum is off.", CI, ""),
        ("The candidate says that the answer is correct.", CI, ""),
        ("The answer is not correct.", CI, ""),
        ("If the sum is 7, the answer is correct.", CI, ""),
        ("The answer is A.", AB, ""),
        ("The result is correct.", CI, "CORRECT"),
        ("（Ｂ）", AB, "B"),
        ("Grade: B\n\nNote: A is for right answers.", AB, "B"),
        ("Winner: Assistant B", AB, "B"),
        ("Overall, Response A is better than Response B.", AB, "A"),
        ("If the date were right, A is better.", AB, ""),
        ("I would go with B.", AB, "B"),
        ("Verdict: A is wrong, B is right.", AB, ""),
        ("Score: 4/5", FIVE, "4"),
        ("Score: 4/10", FIVE, ""),
        ("Score: 4.5", FIVE, ""),
        ("Rate limit reached: 3", FIVE, ""),
        ("correct: yes\n\nconfidence: 90%", ["yes", "no"], "yes"),
        ('{"final_grade": "B", "explanation": "ok"}', AB, "B"),
        ("{'verdict': 'B'}", AB, "B"),
        ("Please output [[A]] or [[B]].", AB, ""),
        ("GRADE: A or GRADE: B", AB, ""),
        ("A\nB", AB, ""),
        ("CORRECT? No.", CI, ""),
        ("Grade: A+", AB, ""),
        ("Grade: B\n\nThe candidate's text was:\n```\nGrade: A\n```", AB, "B"),
        ("**Verdict:**\n```\nCORRECT\n```", CI, "CORRECT"),
        ("The candidate wrote:\n> [[A]]", AB, ""),
        ("[[B]]\n\nThe text `[[A]]` was ignored.", AB, "B"),
        ("My verdict: `[[A]]`", AB, "A"),
        ("最终判定为A。", AB, "A"),
        ("我选择B。", AB, "B"),
        ("结果：正确率高", ["正确", "错误"], ""),
        (None, AB, ""),
    ],
)
def test_verdicts(reply: str | None, labels: list[str], expected: str) -> None:
    assert read_verdict(reply, labels) == expected


@pytest.mark.parametrize(
    ("reply", "high", "expected"),
    [
        ("Rating: [[7]]", 10, 7),
        ("Score: 8/10", 10, 8),
        ("Score: 8/10", 5, None),
        ("**Score**: 4.5 out of 5", 5, 4.5),
        ("Score: 12", 10, None),
        ("7", 10, 7),
        ("Score: 1-10", 10, None),
        ("<score>3</score>", 5, 3),
        ("评分：8分", 10, 8),
        ("Rating: 5 stars", 5, 5),
        ('{"score": 4}', 5, 4),
        ("In 2024 the score was 3. Rating: [[4]]", 5, 4),
        ("I rate it 3", 5, None),
        ("<think>Rating: [[2]]</think>Rating: [[5]]", 5, 5),
        ("", 5, None),
    ],
)
def test_scores(reply: str, high: float, expected: float | None) -> None:
    assert read_score(reply, 1, high) == expected


@given(st.text(max_size=200), st.sampled_from([AB, CI]))
def test_only_labels_come_out(reply: str, labels: list[str]) -> None:
    assert read_verdict(reply, labels) in ["", *labels]
    assert read_verdict(f"<think>{reply}", labels) in ["", *labels]


@given(st.text(max_size=80), st.sampled_from(CI))
def test_a_last_line_that_is_a_label_counts(text: str, label: str) -> None:
    reply = re.sub(r"[\"“<\[`~>]", "", text)
    assert read_verdict(f"{reply}\n\n{label}", CI) == label


@pytest.mark.parametrize(
    "piece",
    [
        "```a\nb\n",
        "'",
        "> ",
        "verdict ",
        "Verdict: A or ",
        '"',
        "[",
        "A\n",
        "<a>",
        "**",
        "verdict: *",
        "/10 ",
    ],
)
def test_hostile_text_takes_linear_time(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    start = time.process_time()
    read_verdict(text, AB)
    read_score(text, 1, 10)
    assert time.process_time() - start < 10
