from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalplug.dataset.templates import fill, placeholders


@pytest.mark.parametrize(
    "text",
    [
        "{question}",
        "{letters}",
        "%s %(x)d",
        "$x ${y}",
        "{{z}}",
        r"\frac{1}{2}",
        "{",
        "}",
        "{0}",
        r"\1",
    ],
)
def test_data_goes_through_untouched(text: str) -> None:
    assert fill("Q: {question}\nA:", question=text) == f"Q: {text}\nA:"


@pytest.mark.parametrize(
    "template",
    [r"put it in \boxed{}", r"\boxed{answer} {choices}", "{x!r} {x:>3} {x.y} {x[0]} {{x}", "100%"],
)
def test_other_braces_of_the_template_stay(template: str) -> None:
    assert fill(template, question="never seen") == template


def test_one_pass_only() -> None:
    assert fill("{a} {b}", a="{b}", b="{a}") == "{b} {a}"


def test_a_name_may_occur_twice_and_values_need_not_be_text() -> None:
    assert fill("{n} and {n}", n=0) == "0 and 0"


def test_inner_braces_of_doubled_ones_are_replaced() -> None:
    assert fill("{{n}}", n=1) == "{1}"


def test_placeholders() -> None:
    assert placeholders(r"{fewshot} {question} \frac{1}{2} {} {X}") == {"fewshot", "question"}


@given(st.text(), st.text(), st.text())
def test_any_text_is_framed_by_its_template(before: str, value: str, after: str) -> None:
    frame = [re.sub(r"\{[a-z_]+\}", "", part) for part in (before, after)]
    # the neighbours must not form a placeholder of their own with the one in the middle
    frame = [part.replace("{", "").replace("}", "") for part in frame]
    assert fill(f"{frame[0]}{{question}}{frame[1]}", question=value) == frame[0] + value + frame[1]
