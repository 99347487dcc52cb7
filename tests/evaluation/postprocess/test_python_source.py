from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pytest_evalplug
from pytest_evalplug.evaluation.postprocess.python_source import (
    is_statement,
    logical_lines,
    statements,
)

SOURCES = sorted(Path(pytest_evalplug.__file__).parent.rglob("*.py"))


@given(st.text("ab =:#'\"\\\n()[]{} \t\r\x0c"))
def test_nothing_is_lost(code: str) -> None:
    assert "".join(line.text for line in logical_lines(code)) == code
    assert "".join(statement.text for statement in statements(code)) == code


def test_the_statements_of_real_modules_are_the_parser_s() -> None:
    for path in SOURCES:
        code = path.read_text(encoding="utf-8")
        body = ast.parse(code).body
        found = [s for s in statements(code) if s.head]
        assert len(found) == len(body), path
        assert all(is_statement(s.head) for s in found), path
        for statement, node in zip(found, body, strict=True):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                assert statement.names == {node.name}
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                names = {alias.asname or alias.name.partition(".")[0] for alias in node.names}
                assert statement.names == names


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("return x if x > 0 else -x", True),
        ("for a, b in pairs:", True),
        ("x += 1", True),
        ("a[0], b.c = b.c, a[0]", True),
        ("print('the end of it')", True),
        ("if not x: return y", True),
        ("match x:", True),
        ("T = '''\nAdd more of them.\n'''", True),
        ("f(3) returns 9", False),
        ("return the sum of both", False),
        ("for each element in xs:", False),
        ("with this approach:", False),
        ("import the module", False),
        ("This works.", False),
        ("Is it (so)?", False),
        ("- an item", False),
        ("1. An item", False),
        ("Use `f(x)`", False),
        ("\u8fd9\u91cc\u662f\u4ee3\u7801\uff1a", False),
        ("Note: done", False),
        ("", False),
    ],
)
def test_statement_or_prose(line: str, code: bool) -> None:
    assert is_statement(line) is code
