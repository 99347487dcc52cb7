from __future__ import annotations

import copy
import pickle

import pytest

from pytest_evalplug.errors import (
    ConfigError,
    DataError,
    EvalplugError,
    FatalModelError,
    ModelError,
    NotApplicable,
    TooLongError,
    WrongAnswer,
    nearest,
    one_line,
)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ConfigError("what"), "what"),
        (ConfigError("what", where="here"), "here: what"),
        (ConfigError("what", fix="Do this"), "what. Do this"),
        (ConfigError("what.", where="here", fix="Do this"), "here: what. Do this"),
    ],
)
def test_an_error_is_one_line(error: EvalplugError, text: str) -> None:
    assert str(error) == text


@pytest.mark.parametrize(
    "kind", [ConfigError, DataError, ModelError, TooLongError, FatalModelError, NotApplicable]
)
def test_errors_survive_pickle_and_copy(kind: type[EvalplugError]) -> None:
    error = kind("what", where="here", fix="Do")
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(twin) is kind
        assert (twin.what, twin.where, twin.fix) == ("what", "here", "Do")


def test_a_wrong_answer_is_an_assertion_and_no_error_of_ours() -> None:
    assert issubclass(WrongAnswer, AssertionError)
    assert not issubclass(WrongAnswer, EvalplugError)


def test_nearest() -> None:
    assert nearest("gsm8", ["mmlu", "gsm8k", "arc"]) == (
        "Did you mean 'gsm8k'? Known: gsm8k, arc, mmlu"
    )
    assert nearest("zzz", ["b", "a"]) == "Known: a, b"
    assert nearest("x", []) == "Known: none"


def test_what_others_raise_on_one_line() -> None:
    assert one_line(ValueError("two\n lines")) == "ValueError: two lines"
    assert one_line(ValueError()) == "ValueError"
    assert one_line("a\tb") == "a b"
    assert one_line("x" * 21, 20) == "x" * 17 + "..."
    assert one_line("x" * 20, 20) == "x" * 20
