"""What gates are called, and the line that each of them is."""

from __future__ import annotations

from pytest_evalplug.report.gates import gate_lines, gate_names
from pytest_evalplug.summary.gates import GateResult


def result(gate: str, model: str, message: str = "m") -> GateResult:
    return GateResult(gate, model, "passed", message)


def test_the_model_is_named_only_among_several() -> None:
    one = [result("a>=1", "m"), result("b>=1", "m"), result("gone>=1", "")]
    assert gate_names(one) == ["a>=1", "b>=1", "gone>=1"]
    two = [result("a>=1", "m"), result("a>=1", "n"), result("gone>=1", "")]
    assert gate_names(two) == ["a>=1 [m]", "a>=1 [n]", "gone>=1"]


def test_hostile_names_stay_on_a_line() -> None:
    (line,) = gate_lines([result("a\n>=1\x1b[0m", "m", "one\n  two\x00")])
    assert line == r"passed  a >=1\x1b[0m: one two\x00"
