from __future__ import annotations

from typing import Any

import pytest

from pytest_evalplug.errors import ConfigError
from pytest_evalplug.evaluation.postprocess.regex import regex
from pytest_evalplug.evaluation.postprocessor import apply_steps, resolve_postprocessor

REPLY = "Answer: (A)? No.\nAnswer:  [B] "


@pytest.mark.parametrize(
    ("pattern", "options", "expected"),
    [
        (r"Answer:\s*\W([A-D])", {}, "A"),
        (r"Answer:\s*\W([A-D])", {"which": "last"}, "B"),
        (r"Answer:.*", {"which": "last"}, "Answer:  [B]"),
        (r"\[([A-D])\]|\(([A-D])\)", {}, "A"),
        (r"\[([A-D])\]|\(([A-D])\)", {"group": 1}, ""),
        (r"\[([A-D])\]|\(([A-D])\)", {"group": 0}, "(A)"),
        (r"(Answer): \((?P<letter>.)", {"group": "letter"}, "A"),
        (r"(Result)", {}, ""),
        (r"(Result)", {"invalid": "?"}, "?"),
    ],
)
def test_what_a_pattern_finds(pattern: str, options: dict[str, Any], expected: str) -> None:
    assert regex(REPLY, pattern, **options) == expected


@pytest.mark.parametrize("name", ["regex", "match_answer_pattern"])
def test_it_is_configured_by_name(name: str) -> None:
    steps = resolve_postprocessor({"type": name, "pattern": r"(\d+)", "which": "last"})
    assert apply_steps(steps, ["1 2", "3", None]) == ["2", "3", ""]
    with pytest.raises(ConfigError, match="pattern"):
        resolve_postprocessor(name)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pattern": "(a"}, r"in pattern '\(a'"),
        ({"pattern": "A", "group": 3}, "no such group in pattern 'A'"),
        ({"pattern": "A", "which": "any"}, "which is 'any'. Use 'first' or 'last'"),
    ],
)
def test_a_mistake_is_said(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        regex(REPLY, **options)
