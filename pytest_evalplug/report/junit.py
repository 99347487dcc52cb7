"""JUnit XML: a test case for each score, and samples' properties where a schema allows them."""

from __future__ import annotations

__all__ = ["complete_junit", "write_junit"]

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement, tostring

from pytest_evalplug.errors import DataError
from pytest_evalplug.report.gates import gate_names
from pytest_evalplug.report.text import clean
from pytest_evalplug.run.jsonio import write_atomic
from pytest_evalplug.summary.gates import GateResult
from pytest_evalplug.summary.rows import Cell, Row
from pytest_evalplug.summary.table import Table

_END = "</testsuites>"
_CHUNK = 1 << 20


def complete_junit(path: Path, table: Table, *, strict: bool = False) -> None:
    """Add a suite to the file that pytest has written: a test case for each row and model.

    With ``strict`` every test case's ``<properties>`` move into its ``<system-out>``: schemas such
    as that of Jenkins' xunit plugin know no other place. The file is read piece by piece and
    replaced at once. Raises DataError if it isn't pytest's, OSError if it can't be written.
    """
    body = _with_output(path) if strict else _body(path)
    write_atomic(path, _joined(body, [_summary_suite(table)], strict))


def write_junit(
    path: Path, table: Table, gates: Sequence[GateResult], *, strict: bool = False
) -> None:
    """Write a file that has the table's scores and the gates alone."""
    start = ['<?xml version="1.0" encoding="utf-8"?><testsuites>']
    suites = [_summary_suite(table), _gate_suite(gates)]
    write_atomic(path, _joined(start, suites, strict))


def _joined(start: Iterable[str], suites: Sequence[Element], strict: bool) -> Iterator[str]:
    yield from start
    for suite in suites:
        if strict:
            for case in suite:
                _properties_to_output(case)
        yield tostring(suite, encoding="unicode")
    yield _END


def _body(path: Path) -> Iterator[str]:
    """Yield the file as it is, without its last tag."""
    held = ""
    with path.open(encoding="utf-8", newline="") as file:
        while chunk := file.read(_CHUNK):
            text = held + chunk
            yield text[: -len(_END)]
            held = text[-len(_END) :]
    if held != _END:
        raise DataError("not a file of pytest's: no <testsuites> at its end", where=str(path))


def _with_output(path: Path) -> Iterator[str]:
    """Yield the file without its last tag, each case's properties turned into output."""
    yield '<?xml version="1.0" encoding="utf-8"?>'
    depth = 0
    open_: list[Element] = []
    try:
        for event, element in ElementTree.iterparse(path, ("start", "end")):
            depth += 1 if event == "start" else -1
            if event == "start" and depth <= 2:  # testsuites, testsuite
                open_[depth - 1 :] = [element]
                yield _opening(element)
            elif event == "end" and depth == 2:
                if element.tag == "testcase":
                    _properties_to_output(element)
                yield tostring(element, encoding="unicode")
                open_[-1].clear()
            elif event == "end" and depth == 1:
                yield f"</{element.tag}>"
                open_[0].clear()
    except ElementTree.ParseError as error:
        raise DataError(f"not well-formed: {error}", where=str(path)) from error


def _opening(element: Element) -> str:
    """Return the tag that opens an element."""
    alone = Element(element.tag, element.attrib)
    return tostring(alone, encoding="unicode").removesuffix(" />") + ">"


def _properties_to_output(case: Element) -> None:
    properties = case.find("properties")
    if properties is None:
        return
    case.remove(properties)
    lines = [f"{each.get('name')}: {each.get('value')}" for each in properties]
    output = case.find("system-out")
    if output is None:
        output = SubElement(case, "system-out")
    output.text = "\n".join([*lines, *([output.text] if output.text else [])])


def _summary_suite(table: Table) -> Element:
    counts = Counter((row.dataset, row.metric) for row in table.rows)
    cases = []
    for row in table.rows:
        told_apart = f" {row.version} {row.mode}" if counts[row.dataset, row.metric] > 1 else ""
        for model, cell in zip(table.models, row.cells, strict=True):
            name = f"{row.dataset} {row.metric}{told_apart} [{model}]"
            case = _case("evalplug.summary", name, _score(row, model, cell))
            if cell is None:
                SubElement(case, "skipped", message="no score")
            cases.append(case)
    return _suite("evalplug summary", cases)


def _score(row: Row, model: str, cell: Cell | None) -> dict[str, Any]:
    known: dict[str, Any] = {"model": model, "version": row.version, "mode": row.mode}
    if cell is not None:
        low, high = cell.interval or (None, None)
        known |= {"value": cell.value, "n": cell.n, "stderr": cell.stderr}
        known |= {"low": low, "high": high, "incomplete": cell.incomplete}
    return known


def _gate_suite(gates: Sequence[GateResult]) -> Element:
    cases = []
    for gate, name in zip(gates, gate_names(gates), strict=True):
        known = {"model": gate.model or None, "value": gate.value, "n": gate.n}
        case = _case("evalplug.gates", name, {**known, "message": gate.message})
        if gate.outcome != "passed":
            tag = "failure" if gate.outcome == "failed" else "skipped"
            SubElement(case, tag, message=clean(gate.message))
        cases.append(case)
    return _suite("evalplug gates", cases)


def _case(classname: str, name: str, properties: dict[str, Any]) -> Element:
    case = Element("testcase", classname=classname, name=clean(name), time="0.000")
    inner = SubElement(case, "properties")
    for key, value in properties.items():
        if value is not None:
            SubElement(inner, "property", name=key, value=clean(value))
    return case


def _suite(name: str, cases: Sequence[Element]) -> Element:
    """Return a suite whose counts are those of its cases."""
    suite = Element("testsuite", name=name, errors="0")
    for attribute, tag in (("failures", "failure"), ("skipped", "skipped")):
        suite.set(attribute, str(sum(case.find(tag) is not None for case in cases)))
    suite.set("tests", str(len(cases)))
    suite.set("time", "0.000")
    suite.extend(cases)
    return suite
