"""What holds for every registered postprocessor."""

from __future__ import annotations

import doctest
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

from pytest_evalplug.evaluation.postprocessor import resolve_postprocessor
from pytest_evalplug.evaluation.registry import postprocessors
from pytest_evalplug.evaluation.textnorm import normalize_answer

MODULES = sorted({postprocessors.get(name).__module__ for name in postprocessors})
CONFIGURED = ("after", "regex", "match_answer_pattern")  # need a marker or a pattern
NAMES = [n for n in postprocessors if n not in CONFIGURED]
HOSTILE = {
    "combining marks": "a" + "\u0315\u0300" * 500_000,
    "open boxes": "\\boxed{" * 140_000,
    "open tags": "<think>" * 140_000,
    "closing tags": "</think>" * 125_000,
    "channels": "<|channel|>final" * 62_500,
    "cues": "the answer is " * 71_000,
    "cues with numbers": "#### 1 " * 140_000,
    "false groups": "1,22" * 250_000,
    "fractions": "1 1/" * 250_000,
    "spaces": " " * 500_000,
    "lines": "\n" * 500_000,
    "letters": "A, " * 333_000,
    "negations": "not that " * 111_000,
    "brackets": "(" * 500_000,
}


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings(module: str) -> None:
    result = doctest.testmod(import_module(module))
    assert result.attempted
    assert not result.failed


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [None, "", 0, False, 1.5, "\x00\ud800\u2028", "\U0001f600"])
def test_no_value_is_an_exception(name: str, value: Any) -> None:
    (step,) = resolve_postprocessor(name)
    assert isinstance(step(value), str)


@pytest.mark.parametrize("name", [*NAMES, "exact match"])
def test_hostile_text_takes_linear_time(name: str) -> None:
    function: Callable[[str], Any] = normalize_answer
    if name in postprocessors:
        function = postprocessors.get(name)
    for kind, text in HOSTILE.items():
        start = time.process_time()
        function(text)
        # a quadratic rule takes minutes; the bound leaves room for a slow, busy machine
        assert time.process_time() - start < 10, kind
