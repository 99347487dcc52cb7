"""Scores in JUnit XML."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest

from pytest_evalplug.errors import DataError
from pytest_evalplug.report.junit import complete_junit, write_junit
from pytest_evalplug.summary.gates import GateResult
from pytest_evalplug.summary.rows import Cell, Row
from pytest_evalplug.summary.table import Table

FILE = (
    '<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests">'
    '<testsuite name="pytest" errors="0" failures="1" skipped="0" tests="2">'
    '<properties><property name="own" value="1" /></properties>'
    '<testcase classname="a.B" name="t[&lt;properties&gt;]" time="0.001">'
    '<properties><property name="said" value="&lt;/testsuites&gt; &amp;&#10;é" /></properties>'
    '<failure message="m">text]]&gt;</failure><system-out>said</system-out></testcase>'
    '<testcase classname="a.B" name="u" time="0.001" /></testsuite></testsuites>'
)
HOSTILE = 'm<b>&\x1b\ud800\ufffe"'
TABLE = Table(
    ("m", HOSTILE),
    (
        Row("d", "v1", "accuracy", "gen", (Cell(50.0, 10, 5.0, (40.0, 60.0)), None)),
        Row("e", "v1", "f1", "gen", (Cell(1.0, 2, incomplete="partial run"), Cell(2.0, 3))),
        Row("e", "v2", "f1", "gen", (Cell(3.0, 2), None)),
    ),
    hidden=(Row("h", "v", "accuracy", "gen", (None, None)),),
)
GATES = [
    GateResult("d>=1", "m", "passed", "accuracy is 50.00", 50.0, 10),
    GateResult("d>=1", HOSTILE, "failed", f"there is no score of {HOSTILE}"),
    GateResult("x>=1", "", "skipped", "one shard"),
]

# Jenkins' xunit plugin, junit-10.xsd: what may stand where
CHILDREN = {
    "testsuites": {"testsuite"},
    "testsuite": {"properties", "testcase", "system-out", "system-err"},
    "testcase": {"skipped", "error", "failure", "system-out", "system-err"},
}
ATTRIBUTES = {
    "testsuites": {"name", "time", "tests", "failures", "errors"},
    "testsuite": {
        *("name", "tests", "failures", "errors", "skipped", "time", "timestamp", "hostname"),
    },
    "testcase": {"name", "classname", "time", "group"},
    "failure": {"type", "message"},
    "error": {"type", "message"},
    "skipped": {"type", "message"},
}
REQUIRED = {"testsuite": {"name", "tests", "failures", "errors"}, "testcase": {"name"}}


def check_schema(element: Element) -> None:
    tag = element.tag
    if tag in ATTRIBUTES:
        assert REQUIRED.get(tag, set()) <= {*element.keys()} <= ATTRIBUTES[tag], tag
    if tag in CHILDREN:
        assert {child.tag for child in element} <= CHILDREN[tag], tag
    for child in element:
        check_schema(child)


def check_counts(suites: Element) -> None:
    for suite in suites:
        cases = suite.findall("testcase")
        assert suite.get("tests") == str(len(cases))
        for attribute, tag in (
            ("failures", "failure"),
            ("errors", "error"),
            ("skipped", "skipped"),
        ):
            found = sum(case.find(tag) is not None for case in cases)
            assert suite.get(attribute) == str(found)


def completed(tmp_path: Path, *, strict: bool, text: str = FILE) -> Element:
    path = tmp_path / "r.xml"
    path.write_text(text, encoding="utf-8")
    complete_junit(path, TABLE, strict=strict)
    return ElementTree.parse(path).getroot()


def test_scores_are_a_suite_of_their_own(tmp_path: Path) -> None:
    root = completed(tmp_path, strict=False)
    check_counts(root)
    assert (
        (tmp_path / "r.xml").read_text(encoding="utf-8").startswith(FILE[: -len("</testsuites>")])
    )
    suite = root[1]
    assert suite.get("name") == "evalplug summary"
    names = [case.get("name") or "" for case in suite]
    assert names[0] == "d accuracy [m]"
    assert names[2] == "e f1 v1 gen [m]"
    assert len({*names}) == len(names) == 6
    assert {case.get("classname") for case in suite} == {"evalplug.summary"}
    values = [{p.get("name"): p.get("value") for p in case.iter("property")} for case in suite]
    assert values[0] == {
        "model": "m",
        "version": "v1",
        "mode": "gen",
        "value": "50.0",
        "n": "10",
        "stderr": "5.0",
        "low": "40.0",
        "high": "60.0",
    }
    assert values[2]["incomplete"] == "partial run"
    assert [case.find("skipped") is not None for case in suite] == [
        *(False, True, False, False, False, True),
    ]
    assert values[1]["model"] == r'm<b>&\x1b\ud800\ufffe"'


def test_strict_has_properties_in_the_output(tmp_path: Path) -> None:
    root = completed(tmp_path, strict=True)
    check_schema(root)
    check_counts(root)
    first, second = root[0].findall("testcase")
    assert first.get("name") == "t[<properties>]"
    assert first.findtext("system-out") == "said: </testsuites> &\né\nsaid"
    assert first.findtext("failure") == "text]]>"
    assert second.find("system-out") is None
    assert root[0].find("properties/property") is not None
    assert "value: 50.0" in (root[1][0].findtext("system-out") or "")


@pytest.mark.parametrize("strict", [False, True])
def test_what_is_not_pytests_stays(tmp_path: Path, *, strict: bool) -> None:
    for text in ("", "<html>", FILE[:-5]):
        with pytest.raises(DataError):
            completed(tmp_path, strict=strict, text=text)
        assert (tmp_path / "r.xml").read_text() == text
        assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("size", [1 << 20, (1 << 20) - 5, (2 << 20) + 3])
def test_a_long_file_is_read_in_pieces(tmp_path: Path, size: int) -> None:
    text = FILE.replace(">said<", f">{'x' * (size - len(FILE) + 4)}<")
    assert len(text) == size
    check_counts(completed(tmp_path, strict=False, text=text))


@pytest.mark.parametrize("strict", [False, True])
def test_a_file_without_a_session(tmp_path: Path, *, strict: bool) -> None:
    path = tmp_path / "folder" / "r.xml"
    write_junit(path, TABLE, GATES, strict=strict)
    root = ElementTree.parse(path).getroot()
    check_counts(root)
    assert strict is not bool(root.findall(".//properties"))
    summary, gates = root
    assert len(summary) == 6
    assert [case.get("name") for case in gates] == [
        "d>=1 [m]",
        r'd>=1 [m<b>&\x1b\ud800\ufffe"]',
        "x>=1",
    ]
    assert gates[1].find("failure") is not None
    assert gates[2].find("skipped") is not None
