from __future__ import annotations

import pytest

from pytest_evalplug.evaluation.mathematics.reply import final_formula


@pytest.mark.parametrize(
    ("reply", "formula"),
    [
        (r"\boxed{2} no, \boxed{\frac{1}{2}}", r"\frac{1}{2}"),
        (r"\boxed{\boxed{3}}", "3"),
        (r"\boxed{x = \boxed{3}}", r"x = \boxed{3}"),
        (r"The answer is $3.14$.", "3.14"),
        ("The answer is 0.5.", "0.5"),
        ("The answer is 2. Wait, the answer is 3.", "3"),
        ("**Answer:** 4.", "4"),
        ("**Final Answer**\n\n$$x = 7$$", "x = 7"),
        (r"It costs \$5 and \$7, in total $12$", "12"),
        ("We pay $5 and $7, so $12 in all.", "We pay $5 and $7, so $12 in all."),
        ("The solutions are $x=2$ and $x=3$.", "x=2, x=3"),
        ("First $a=1$. Then $b=2$.", "b=2"),
        (r"Thus \[ x = 5 \]", "x = 5"),
        (r"Thus \( x = 5 \).", "x = 5"),
        ("some words\n\n42\n", "42"),
        ("<think>the answer is 3</think>\n4", "4"),
        (r"11,\! 111", r"11,\! 111"),
        (r"Answer: 11,\! 111", r"11,\! 111"),
        ("", ""),
    ],
)
def test_final_formula(reply: str, formula: str) -> None:
    assert final_formula(reply) == formula
