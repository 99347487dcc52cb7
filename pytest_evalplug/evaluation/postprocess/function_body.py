"""A function's body that continues a prompt."""

from __future__ import annotations

__all__ = ["function_body"]

import re

from pytest_evalplug.evaluation.postprocess.python_source import (
    Line,
    is_statement,
    logical_lines,
)

_DEFINES = re.compile(r"(?:async[ ]+)?def\b|class\b")
_GIVES = re.compile(r"(?:return|yield|raise)\b")
_CONTINUES = re.compile(r"(?:elif|else|except|finally)\b")
_OPENER = re.compile(r":[ \t]*(?:#[^\n]*)?\s*$")


def function_body(code: str, stub: str) -> tuple[str, str]:
    r"""Return the body that ``code`` begins with, indented to continue ``stub``, and the rest.

    The body may stand at any depth, and its first line may have lost its indent, as replies are
    often stripped. It ends with the first line that stands further out, or is prose. It is
    ``""`` where ``code`` is a function of its own, or ``stub`` has none to be continued.

    >>> function_body("y = x\n   return y\nDone.", "def f(x):\n")
    ('    y = x\n    return y\n', 'Done.')
    """
    lines = list(logical_lines(code))
    first = next((i for i, line in enumerate(lines) if not line.blank), None)
    margin = _margin(stub)
    if first is None or not margin:
        return "", code
    lines = lines[first:]
    depth = _depth(lines)
    if depth == 0 and _is_function(lines):
        return "", code
    lines[0] = lines[0]._replace(indent=depth)
    floor = 1 if lines[0].text.startswith(margin) and depth == len(margin.expandtabs()) else depth
    end = next((i for i, line in enumerate(lines) if _ends(line, floor)), len(lines))
    body = "".join(_moved(line, margin, depth) for line in lines[:end])
    return f"{body.rstrip()}\n" if end else "", "".join(line.text for line in lines[end:])


def _margin(stub: str) -> str:
    """Return the white space before the line that comes after ``stub``, ``""`` for no function."""
    last = [line for line in logical_lines(stub) if not line.blank][-1]
    margin = last.text[: len(last.text) - len(last.text.lstrip(" \t"))]
    return f"{margin}    " if _OPENER.search(last.text) else margin


def _depth(lines: list[Line]) -> int:
    """Return how deep the first line stood before the reply was stripped."""
    rest = [line.indent for line in lines[1:] if not line.blank]
    if lines[0].indent or not rest or not rest[0]:
        return lines[0].indent
    if not _OPENER.search(lines[0].text):
        return rest[0]
    return max((indent for indent in rest if indent < rest[0]), default=0)


def _is_function(lines: list[Line]) -> bool:
    """Tell whether ``lines`` define something, and give no value back but inside of that."""
    defines = inside = False
    for line in lines:
        if line.indent == 0 and not line.blank:
            inside = _DEFINES.match(line.text) is not None
            defines = defines or inside
        if not inside and _GIVES.match(line.text.lstrip(" \t")):
            return False
    return defines


def _ends(line: Line, floor: int) -> bool:
    if line.blank or line.indent > floor:
        return False
    bare = line.text.lstrip(" \t")
    prose = floor == 0 and not (is_statement(bare) or _CONTINUES.match(bare))
    return line.indent < floor or prose


def _moved(line: Line, margin: str, depth: int) -> str:
    if line.blank or line.indent < depth:
        return line.text
    return f"{margin}{' ' * (line.indent - depth)}" + line.text.lstrip(" \t\f")
