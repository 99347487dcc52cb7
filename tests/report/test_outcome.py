from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import pytest

from pytest_evalplug.errors import WrongAnswer
from pytest_evalplug.report.outcome import (
    GATE,
    Tally,
    change_texts,
    exit_reason,
    exit_status,
    finish_report,
    is_wrong,
    status_of,
)

OK, FAILED, INTERRUPTED, USAGE = 0, 1, 2, 4


def status(
    code: int,
    *,
    wrong: int = 0,
    failed: int = 0,
    gates: int = 0,
    strict: bool = False,
    maxfail: int = 0,
    stopped: bool = False,
) -> int:
    tally = Tally(wrong, failed, gates)
    return exit_status(code, tally, strict=strict, maxfail=maxfail, stopped=stopped)


def test_wrong_answers_are_a_measurement() -> None:
    assert status(FAILED, wrong=3) == OK
    assert status(FAILED, wrong=3, strict=True) == FAILED
    assert status(FAILED, wrong=3, failed=1) == FAILED
    assert status(FAILED, failed=1) == FAILED
    assert status(OK) == OK


def test_a_stopped_run_is_1() -> None:
    assert status(FAILED, wrong=1, maxfail=1) == FAILED
    assert status(INTERRUPTED, wrong=1, maxfail=1) == FAILED
    assert status(INTERRUPTED, wrong=1, failed=1, maxfail=2) == FAILED
    assert status(INTERRUPTED, stopped=True) == FAILED
    assert status(FAILED, wrong=1, stopped=True) == FAILED
    assert status(FAILED, wrong=1, maxfail=2) == OK


def test_ctrl_c_and_the_rest_stay() -> None:
    assert status(INTERRUPTED, wrong=5) == INTERRUPTED
    assert status(INTERRUPTED, wrong=1, maxfail=2) == INTERRUPTED
    assert status(USAGE, wrong=1) == USAGE
    assert status(5) == 5


def test_gates_fail_the_run_and_stop_nothing() -> None:
    assert status(FAILED, wrong=3, gates=1) == FAILED
    assert status(FAILED, gates=1) == FAILED
    assert status(INTERRUPTED, gates=1, maxfail=1) == INTERRUPTED


@pytest.mark.parametrize(
    ("code", "tally", "strict", "reason"),
    [
        (OK, Tally(wrong=3), False, "passed"),
        (FAILED, Tally(3, 1, 2), False, "failed or not measured: 1, failed gates: 2"),
        (FAILED, Tally(3), True, "wrong: 3"),
        (FAILED, Tally(3), False, "stopped or incomplete"),
        (INTERRUPTED, Tally(3), False, "interrupted"),
        (5, Tally(), False, "no tests collected"),
        (77, Tally(), False, "unknown"),
    ],
)
def test_why_a_session_ends_so(code: int, tally: Tally, strict: bool, reason: str) -> None:
    assert exit_reason(code, tally, strict=strict) == reason


def report_of(error: BaseException | None, *, xfail: bool = False) -> pytest.TestReport:
    def raises() -> None:
        if error:
            raise error

    call = pytest.CallInfo.from_call(raises, "call")
    report = pytest.TestReport(
        nodeid="a::b",
        location=("a", 1, "b"),
        keywords={},
        outcome="failed" if error else "passed",
        longrepr="long" if error else None,
        when="call",
    )
    finish_report(report, call, xfail=xfail)
    return report


def test_a_wrong_answer_s_report() -> None:
    report = report_of(WrongAnswer("pred: 1"))
    assert is_wrong(report)
    assert report.failed
    assert report.longrepr == "pred: 1"
    assert status_of(report) == ("wrong", "w", ("WRONG", {"yellow": True}))


def test_a_wrong_answer_shows_no_secret() -> None:
    call = pytest.CallInfo.from_call(lambda: _raise(WrongAnswer("reply: it is hidden")), "call")
    report = report_of(None)
    finish_report(report, call, xfail=False, hide=lambda text: text.replace("hidden", "***"))
    assert report.longrepr == "reply: it is ***"


def _raise(error: Exception) -> None:
    raise error


def test_a_wrong_answer_that_is_expected() -> None:
    report = report_of(WrongAnswer("pred: 1"), xfail=True)
    assert report.skipped
    assert report.wasxfail
    assert status_of(report) is None


@pytest.mark.parametrize("error", [None, AssertionError("x"), ValueError("x")])
def test_other_reports_stay(error: BaseException | None) -> None:
    report = report_of(error)
    assert not is_wrong(report)
    assert status_of(report) is None
    assert report.longrepr == ("long" if error else None)


class _Named(NamedTuple):
    text: str
    line: int

    def toterminal(self, out: object) -> None: ...


class _Slots:
    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text

    def toterminal(self, out: object) -> None: ...


@dataclass(frozen=True)
class _Frozen:
    text: str

    def toterminal(self, out: object) -> None: ...


class _Parts(list[str]):
    def __init__(self, title: str, parts: Iterable[str]) -> None:
        super().__init__([title, *parts])


def test_what_other_plugins_report_is_changed_too() -> None:
    def change(text: str) -> str:
        return text.replace("secret", "***")

    assert change_texts(_Named("a secret", 1), change) == _Named("a ***", 1)
    assert change_texts(_Slots("a secret"), change) == "a ***"
    assert change_texts(_Frozen("a secret"), change) == "_Frozen(text='a ***')"
    assert change_texts(_Parts("a", ["secret"]), change) == "['a', '***']"
    assert change_texts(["a secret", ("secret",)], change) == ["a ***", ("***",)]


def test_the_tally() -> None:
    tally = Tally()
    for error in (WrongAnswer("x"), WrongAnswer("y"), ValueError("z"), None):
        tally.count(report_of(error))
    gate = report_of(ValueError("gate"))
    setattr(gate, GATE, True)
    tally.count(gate)
    assert tally == Tally(wrong=2, failed=1, gates=1)
