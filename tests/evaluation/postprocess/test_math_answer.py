from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalplug.evaluation.postprocess.math_answer import math_answer


@pytest.mark.parametrize(
    ("reply", "expression"),
    [
        (r"\boxed{2} no, wait, \boxed{\frac{1}{3}}", r"\frac{1}{3}"),
        (r"\boxed{2}. Wait: the answer is $3$.", "3"),
        ("\\boxed{12}\nAnswer: twelve apples", "12"),
        (r"The answer is $x = 3$ or $x = -3$.", "x = 3 or x = -3"),
        (r"The answer is x = $5$.", "5"),
        (r"The final answer is $\{1, 2\}$ and $3$.", r"\{1, 2\} and 3"),
        ("The answer is $3.14$.", "3.14"),
        ("The answer is 12 apples, because $3 \\cdot 4 = 12$.", "12 apples"),
        ("Answer: $18", "18"),
        ("Answer: $5 and $7", "5 and 7"),
        ("#### 1,234", "1,234"),
        ("<answer>x^2</answer>", "x^2"),
        ("\u7b54\u6848\u662f $\\frac{1}{2}$\u3002", r"\frac{1}{2}"),
        ("\u7b54\u6848\uff1a\uff13", "3"),
        ("x\u00b2 + \u00bd", r"x^{2} + \frac{1}{2}"),
        ("The answer is not 5.", ""),
        ("Thus \\[\n x = 5\n\\]", "x = 5"),
        ("Thus \\[ x = 5 \\]\nDone.", "x = 5"),
        ("We get $x=5$.\n\nHence $x+1=6$", "x+1=6"),
        (r"Costs \$5 and then \$7, in total $12$", "12"),
        ("Much text, and more of it.\n(1, 2)", "(1, 2)"),
        (
            "\\begin{pmatrix}\n1\\\\\n2\n\\end{pmatrix}",
            "\\begin{pmatrix}\n1\\\\\n2\n\\end{pmatrix}",
        ),
        ("Sunday", "Sunday"),
        ("I do not know.", ""),
        ("We compute $x = 5$ first. But then nothing more can be said.\nIt is hard to say", ""),
        ("<think>\\boxed{3}", ""),
        ("", ""),
        (r"Answer: 10,\!080", r"10,\!080"),
        ("The answer is 5! ways", "5! ways"),
        ("The answer is 42! Great.", "42"),
        ("So the solutions are $x=3$ and $x=-3$.", "x=3 and x=-3"),
        ("First $a=3$.\n\n$b=4$", "b=4"),
        (r"\text{The answer is } 5", "5"),
    ],
)
def test_rules(reply: str, expression: str) -> None:
    assert math_answer(reply) == expression


@pytest.mark.parametrize(
    "reply",
    [
        r"\[1+1=2\] Thus $$\boxed{%s}$$ follows.",
        "First $1+1=2$ holds.\n\nThe answer is $%s$.",
        r"Final answer: \(%s\)",
        "Some text.\n\n\\[%s\\]",
        "%s",
    ],
)
def test_the_answers_of_math(data_dir: Path, reply: str) -> None:
    text = (data_dir / "math500/test.jsonl").read_text(encoding="utf-8")
    for answer in (json.loads(line)["answer"] for line in text.split("\n") if line):
        assert math_answer(reply.replace("%s", answer)) == answer.strip()


@given(st.text("the answer is$\\boxed{}[]()#.1x\n", max_size=60))
def test_any_text_is_survived(text: str) -> None:
    math_answer(text)
