from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_evalplug.errors import ConfigError, DataError
from pytest_evalplug.evaluation.cases import CaseFile, Finding, check_file

NUMBER = {"id": "n", "kind": "k", "input": "It is 8.", "gold": "8", "right": True, "expected": "8"}
LETTER = {"id": "o", "kind": "k", "input": "Answer: B", "options": "ABC", "expected": "B"}
SIMPLE = {"id": "s", "input": "a # b", "expected": "b", "postprocessor": "after"}
AFTER = {"type": "after", "marker": "#"}


def write(folder: Path, *rows: dict[str, Any], name: str = "mine.jsonl") -> Path:
    path = folder / name
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def test_every_case_is_counted(tmp_path: Path) -> None:
    wrong = {**NUMBER, "id": "m", "kind": "j", "why": "as a joke", "expected": "9"}
    report = check_file(write(tmp_path, NUMBER, wrong, {**NUMBER, "kind": "j"}))
    assert (report.right, report.total) == (2, 3)
    assert report.by_kind() == {"k": (1, 1), "j": (1, 2)}
    (miss,) = report.misses
    assert (miss.id, miss.kind, miss.why) == ("m", "j", "as a joke")
    assert miss.finding.input == "It is 8."
    assert miss.finding.got == {"number": "8", "right": True}


@pytest.mark.parametrize(
    ("row", "kind"),
    [(NUMBER, "number"), (LETTER, "option_letter"), (SIMPLE, "postprocessor")],
)
def test_the_fields_of_the_rows_tell_the_kind(
    tmp_path: Path, row: dict[str, Any], kind: str
) -> None:
    assert CaseFile.load(write(tmp_path, row)).kind == kind


def test_a_named_kind_counts(tmp_path: Path) -> None:
    path = write(tmp_path, {**LETTER, "input": "Answer: B", "expected": "Answer"})
    report = check_file(path, kind="postprocessor", postprocessor=lambda text: text[:6])
    assert report.right == 1


@pytest.mark.parametrize(
    ("label", "change", "right"),
    [
        ("wrong verdict", {"right": False}, 0),
        ("wrong value", {"expected": "9"}, 0),
        ("equal value", {"expected": "8.0"}, 1),
        ("no number", {"input": "none", "expected": "", "right": False}, 1),
        ("a number for none", {"expected": ""}, 0),
        ("wrong answer", {"gold": "7", "right": False}, 1),
    ],
)
def test_number(tmp_path: Path, label: str, change: dict[str, Any], right: int) -> None:
    assert check_file(write(tmp_path, {**NUMBER, **change})).right == right, label


def test_several_letters_only_where_they_are_asked_for(tmp_path: Path) -> None:
    both = {**LETTER, "input": "Answer: A and B", "expected": "AB"}
    report = check_file(write(tmp_path, both, {**both, "multi": True}))
    assert [o.finding.got for o in report.outcomes] == ["", "AB"]


def test_reasoning_that_is_cut(tmp_path: Path) -> None:
    row = {"id": "r", "input": "<think>a", "expected_text": "", "truncated": True}
    report = check_file(write(tmp_path, row, {**row, "truncated": False}))
    assert [o.finding.right for o in report.outcomes] == [True, False]
    assert check_file(report.path, postprocessor="think").right == 2


def test_another_rule_is_tried(tmp_path: Path) -> None:
    path = write(tmp_path, {**LETTER, "input": "I choose B"})
    assert check_file(path).right == 1
    (miss,) = check_file(path, postprocessor=lambda text: text[0]).misses
    assert miss.finding.got == "I"
    assert check_file(path, postprocessor=lambda text: None).misses[0].finding.got == ""


@pytest.mark.parametrize(
    ("expected", "value", "right"),
    [
        (1, 1, 1),
        (1, True, 0),
        (1, 1.0, 0),
        ("1", 1, 0),
        ([1, 2], (1, 2), 1),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, 1),
        (None, None, 1),
        ("", None, 0),
    ],
)
def test_values_are_compared_as_json(tmp_path: Path, expected: Any, value: Any, right: int) -> None:
    path = write(tmp_path, {"id": "x", "input": "in", "expected": expected})
    assert check_file(path, postprocessor=lambda text: value).right == right


def test_rules_of_a_case_get_its_letters(tmp_path: Path) -> None:
    row = {**LETTER, "input": "Answer: AD", "options": "ABCD", "multi": True, "expected": "AD"}
    path = write(tmp_path, {**row, "postprocessor": "last-option"}, {**row, "postprocessor": None})
    assert check_file(path, kind="postprocessor", postprocessor="first-option").right == 2
    with pytest.raises(ConfigError, match=r"mine\.jsonl:2: no postprocessor .*--postp"):
        check_file(path, kind="postprocessor")


def test_options_in_the_row(tmp_path: Path) -> None:
    assert check_file(write(tmp_path, {**SIMPLE, "postprocessor": AFTER})).right == 1


def test_a_rule_that_fails_is_a_miss(tmp_path: Path) -> None:
    def fails(text: str) -> str:
        raise ValueError("no idea")

    (miss,) = check_file(write(tmp_path, LETTER), postprocessor=fails).misses
    label = {"options": "ABC", "expected": "B"}
    assert miss.finding == Finding("Answer: B", label, "ValueError: no idea", right=False)


@pytest.mark.parametrize(
    ("rows", "arguments", "error", "message"),
    [
        ([], {}, DataError, "mine.jsonl: holds no cases"),
        ([{"id": 1, "text": "x"}], {}, DataError, r"fields id, text\. Known: option_letter \(inp"),
        ([NUMBER], {"kind": "nummer"}, DataError, "unknown kind .*Did you mean 'number'"),
        (
            [NUMBER, {**NUMBER, "gold": None}],
            {},
            DataError,
            r"mine.jsonl:2: the case has no 'gold'\. A number case has input, gold, right, exp",
        ),
        ([NUMBER], {"postprocessor": "last-numbr"}, ConfigError, "Did you mean 'last-number'"),
        ([SIMPLE], {}, ConfigError, "postprocessor after: missing .*'marker'"),
        (
            [{"id": "j", "bytes_b64": "", "kept_ids": []}],
            {"postprocessor": "think"},
            ConfigError,
            "journal cases hold no replies",
        ),
    ],
)
def test_what_cannot_be_checked(
    tmp_path: Path,
    rows: list[dict[str, Any]],
    arguments: dict[str, Any],
    error: type[Exception],
    message: str,
) -> None:
    with pytest.raises(error, match=message):
        check_file(write(tmp_path, *rows), **arguments)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.jsonl: not readable: No such file"):
        check_file(tmp_path / "none.jsonl")
