from __future__ import annotations

import pytest

from pytest_evalplug.evaluation.postprocess.marker import after, boxed, xml_tag


def test_after_the_last_marker() -> None:
    assert after("a #### 1\n#### 2 ", marker="####") == "2"


def test_a_missing_marker_gives_nothing_or_what_is_configured() -> None:
    assert after("5", marker="####") == ""
    assert after("5", marker="####", invalid="?") == "?"


@pytest.mark.parametrize(
    ("text", "content"),
    [
        (r"\boxed{\frac{1}{2}}", r"\frac{1}{2}"),
        (r"\boxed{1} no, \boxed {2}", "2"),
        (r"\fbox{3}", "3"),
        (r"\boxed{\{1, 2\}}", r"\{1, 2\}"),
        (r"\boxed{\left\{ x \right.}", r"\left\{ x \right."),
        (r"\boxed{1} and \boxed{2", "1"),
        (r"{1}", ""),
        (r"<think>\boxed{1}</think> \boxed{2}", "2"),
        (r"<think>\boxed{1}", ""),
        ("", ""),
    ],
)
def test_the_last_closed_box(text: str, content: str) -> None:
    assert boxed(text) == content


@pytest.mark.parametrize(
    ("text", "tag", "content"),
    [
        ("<answer>A</answer> no, <answer> B </answer>", "answer", "B"),
        ("<answer>A</answer> or <answer>B", "answer", "A"),
        ("so <answer>B", "answer", "B"),
        ("<answer><answer>B</answer></answer>", "answer", "B"),
        ('<ANSWER type="x">B</Answer>', "<answer>", "B"),
        ("<answers>A</answers>", "answer", ""),
        ("</answer>", "answer", ""),
        ("<think><answer>A</answer>", "answer", ""),
        ("<think>x</think> y", "think", "x"),
        ("<a.b>1</a.b><axb>2</axb>", "a.b", "1"),
        ("", "answer", ""),
    ],
)
def test_the_last_closed_tag(text: str, tag: str, content: str) -> None:
    assert xml_tag(text, tag) == content
