"""What holds for every registered postprocessor."""

from __future__ import annotations

import doctest
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

from pytest_evalplug.evaluation.postprocess.code import extract_program
from pytest_evalplug.evaluation.postprocessor import resolve_postprocessor
from pytest_evalplug.evaluation.registry import postprocessors
from pytest_evalplug.evaluation.textnorm import normalize_answer
from tests.evaluation.postprocess.hostile import hostile_texts

MODULES = sorted({postprocessors.get(name).__module__ for name in postprocessors})
HELPERS = ("fences", "function_body", "python_source")
CONFIGURED = ("after", "regex", "match_answer_pattern")  # need a marker or a pattern
NAMES = [n for n in postprocessors if n not in CONFIGURED]
SLOW_AT_THE_SOURCE = (  # quadratic, but for general_cn: that is jieba
    "opencompass-bbh-freeform",
    "opencompass-first-option",
    "opencompass-general_cn",
)
LINEAR: dict[str, Callable[[str], Any]] = {
    **{n: postprocessors.get(n) for n in NAMES if n not in SLOW_AT_THE_SOURCE},
    "code in a prompt": lambda text: extract_program("    return 1", prompt=text),
    "code for a prompt": lambda text: extract_program(text, prompt="def f(x):\n", entry_point="f"),
    "code for a class": lambda text: extract_program(
        text, prompt="class S:\n    def f(self):\n", entry_point="S"
    ),
    "exact match": normalize_answer,
}


@pytest.mark.parametrize(
    "module", [*MODULES, *(f"{MODULES[0].rpartition('.')[0]}.{m}" for m in HELPERS)]
)
def test_examples_in_docstrings(module: str) -> None:
    result = doctest.testmod(import_module(module))
    assert result.attempted
    assert not result.failed


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [None, "", 0, False, 1.5, "\x00\ud800\u2028", "\U0001f600"])
def test_no_value_is_an_exception(name: str, value: Any) -> None:
    (step,) = resolve_postprocessor(name)
    assert isinstance(step(value), str)


@pytest.mark.parametrize("name", LINEAR)
def test_hostile_text_takes_linear_time(name: str) -> None:
    for kind, text in hostile_texts(12_000):
        start = time.process_time()
        LINEAR[name](text)
        # a quadratic rule takes far longer; perf/postprocessors.py measures 1 MB
        assert time.process_time() - start < 1.5, kind
