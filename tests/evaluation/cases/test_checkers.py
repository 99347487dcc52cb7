from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_evalplug.errors import ConfigError
from pytest_evalplug.evaluation.cases import Finding, check_file

TEXT = {"metric": "f1", "pred": "a red cat", "golds": ["red cats", "red cat"], "lang": "en"}
MATH = {"pred": "so $\\frac12$", "gold": "0.5", "right": True}
CALL = {"entry_point": "f", "prompt": "", "call": "f(2)", "expected_repr": "4"}
PROGRAM = {"program": "def f(x):\n    return x * x", "test": "assert f(2) == 4"}
FENCED = "Here:\n```python\ndef f(x):\n    return x * x\n```"


def findings(folder: Path, *rows: dict[str, Any], **options: Any) -> list[Finding]:
    path = folder / "cases.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return [outcome.finding for outcome in check_file(path, **options).outcomes]


@pytest.mark.parametrize(
    ("change", "right"),
    [
        ({"expected": 1}, True),
        ({"expected": 0.99}, False),
        ({"expected": {"min": 0.5, "max": 1}}, True),
        ({"expected": {"min": 0.5, "max": 0.9}}, False),
        ({"metric": "em", "expected": 1}, True),
        ({"metric": "rouge_l", "expected": 0.8}, True),
        ({"metric": "chrf", "pred": "red cat", "expected": 100}, True),
        (
            {
                "metric": "bleu",
                "pred": "\u7ea2\u732b\u3002",
                "golds": ["\u7ea2\u732b\u3002"],
                "lang": "zh",
                "expected": 100,
            },
            True,
        ),
    ],
)
def test_text_match(tmp_path: Path, change: dict[str, Any], right: bool) -> None:
    (finding,) = findings(tmp_path, {**TEXT, **change})
    assert finding.right is right, finding


def test_text_match_of_an_unknown_metric(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"jsonl:2: unknown evaluator 'f2'.*Did you mean 'f1'"):
        findings(tmp_path, {**TEXT, "expected": 1}, {**TEXT, "metric": "f2", "expected": 1})


def test_math_equal(tmp_path: Path) -> None:
    right, wrong = findings(tmp_path, MATH, {**MATH, "gold": "0.6", "max_seconds": 5})
    assert right.right
    assert not wrong.right
    assert wrong.got == {"right": False, "by": "number"}


def test_math_equal_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter((0.0, 3.0, 0.0, 3.0))
    monkeypatch.setattr("time.monotonic", lambda: next(times))
    (enough,) = findings(tmp_path, {**MATH, "pred": "0.5"})
    (late,) = findings(tmp_path, {**MATH, "pred": "0.5", "max_seconds": 2})
    assert enough.right
    assert not late.right
    assert late.got["seconds"] == 3.0


def test_a_rule_before_an_evaluator(tmp_path: Path) -> None:
    (text,) = findings(tmp_path, {**TEXT, "expected": 1}, postprocessor=lambda text: text[:5])
    assert text.got["pred"] == "a red"
    assert not text.right
    (math,) = findings(tmp_path, MATH, postprocessor=lambda text: "0.25")
    assert math.got == {"pred": "0.25", "right": False, "by": "number"}


def test_code_extract(tmp_path: Path) -> None:
    row = {**CALL, "input": FENCED}
    right, wrong = findings(tmp_path, row, {**row, "expected_repr": "'4'"})
    assert right.right
    assert not wrong.right
    assert wrong.got.startswith("fail: AssertionError: 4 ")
    (raw,) = findings(tmp_path, row, postprocessor=lambda text: text)
    assert raw.got.startswith("error: loading the program raised ")


def test_rules_for_code_get_what_is_known(tmp_path: Path) -> None:
    row = {**CALL, "input": "    return x * x", "prompt": "def f(x):\n"}
    (finding,) = findings(
        tmp_path, row, postprocessor=lambda text, prompt="", entry_point="": prompt + text
    )
    assert finding.right


@pytest.mark.parametrize(
    ("change", "right"),
    [
        ({"expected": "pass"}, True),
        ({"expected": "error_ok"}, False),
        ({"expected": "fail"}, False),
        ({"test": "assert f(2) == 5", "expected": "fail"}, True),
        ({"test": "assert f(2) == 5", "expected": "error_ok"}, True),
        ({"program": "while True: pass", "max_seconds": 0.5, "expected": "timeout"}, True),
    ],
)
def test_code_verdict(tmp_path: Path, change: dict[str, Any], right: bool) -> None:
    (finding,) = findings(tmp_path, {**PROGRAM, **change})
    assert finding.right is right, finding


def test_judge_verdict(tmp_path: Path) -> None:
    row = {"reply": "Grade: B", "labels": ["A", "B"], "expected": "B"}
    right, wrong = findings(tmp_path, row, {**row, "expected": ""})
    assert (right.right, wrong.right, wrong.got) == (True, False, "B")
    (other,) = findings(tmp_path, row, postprocessor=lambda text: text[0])
    assert other.got == "G"


@pytest.mark.parametrize(
    ("n", "k", "expected", "right"),
    [
        (2, 1, 0.5, True),
        (2, 1, 0.6, False),
        (2, 1, None, False),
        (2, 3, None, True),
        (2, 3, 0, False),
    ],
)
def test_pass_at_k(tmp_path: Path, n: int, k: int, expected: float | None, right: bool) -> None:
    (finding,) = findings(tmp_path, {"n": n, "c": 1, "k": k, "expected": expected})
    assert finding.input == f"n={n}, c=1, k={k}"
    assert finding.right is right


def test_journal(tmp_path: Path) -> None:
    # {"id": "b"}, {"id": "a"} and half a line
    data = "eyJpZCI6ICJiIn0KeyJpZCI6ICJhIn0KeyJpZA=="
    right, wrong = findings(
        tmp_path,
        {"bytes_b64": data, "kept_ids": ["a", "b"]},
        {"bytes_b64": data, "kept_ids": ["a"]},
    )
    assert right.right
    assert (wrong.right, wrong.got) == (False, ["a", "b"])
    assert wrong.input.endswith('{"id')


def test_skipped_lines_of_a_journal_are_no_warning_of_the_command(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_text('{"bytes_b64": "ewp7fQo=", "kept_ids": []}')  # { and {}
    command = [sys.executable, "-m", "pytest_evalplug.cli", "cases", str(path)]
    done = subprocess.run(command, capture_output=True, check=True)
    assert done.stderr == b""


def test_dataset_rows(tmp_path: Path) -> None:
    row = {"file_b64": "YSxiCjEsTkEK", "format": "csv"}  # a,b and 1,NA
    right, typed, error = findings(
        tmp_path,
        {**row, "expected_rows": [{"b": "NA", "a": "1"}]},
        {**row, "expected_rows": [{"a": 1, "b": "NA"}]},
        {"file_b64": "ew==", "format": "jsonl", "expected_rows": {"error": True}},
    )
    assert right.right
    assert (typed.right, typed.got) == (False, [{"a": "1", "b": "NA"}])
    assert error.right
