from __future__ import annotations

import pytest

from pytest_evalplug.evaluation.postprocess.marker import after, boxed


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
        ("", ""),
    ],
)
def test_the_last_closed_box(text: str, content: str) -> None:
    assert boxed(text) == content
