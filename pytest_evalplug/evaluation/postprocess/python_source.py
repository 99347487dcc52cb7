"""Python source in pieces, by its outer form alone.

Replies are hostile, so nothing here parses, compiles or runs them: a parser takes time, memory or
stack that one pass over quotes, brackets and indentation doesn't.
"""

from __future__ import annotations

__all__ = ["Line", "Statement", "is_statement", "logical_lines", "past_strings", "statements"]

import itertools
import keyword
import operator
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

_TOKEN = re.compile(
    r"""
    \\(?:.|\n) | \#[^\n]* | \n | [(\[{] | [)\]}]
    | \"{3} | '{3}
    | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'
    """,
    re.VERBOSE,
)
_CLOSING = {quote: re.compile(rf"\\.|{quote}", re.DOTALL) for quote in ('"""', "'''")}
_RESTART = re.compile(r"(?:def|class|import|from|async|@)\b")
_CONTINUES = re.compile(r"(?:elif|else|except|finally)\b[^\n]*:")

_NAME = r"[^\W\d]\w*"
_HEAD = re.compile(
    rf"""
    (?:async[ ]+)?def[ ]+(?P<function>{_NAME})[ ]*[(\[]
    | class[ ]+(?P<cls>{_NAME})[ ]*[(:\[]
    | import[ ]+(?P<modules>{_NAME}[^\n]*)
    | from[ ]+[.\w]+[ ]+import[ ]*\(?(?P<members>[^)]*)
    | (?P<targets>{_NAME}(?:[ ]*,[ ]*{_NAME}){{0,20}})[ ]*(?::[^=\n]{{1,200}})?=(?!=)
    """,
    re.VERBOSE,
)
_BEGIN = re.compile(
    rf"""
    (?:async[ ]+)?def[ ]+{_NAME}[ ]*[(\[] | class[ ]+{_NAME}[ ]*[(:\[] | @[ ]*{_NAME}
    | from[ ]+[.\w]+[ ]+import\b | (?:try|else|finally)[ ]*:
    | (?P<block>(?:async|if|elif|for|while|with|except|match|case)\b)
    | (?:import|return|raise|yield|assert|del|global|nonlocal|await|pass|break|continue)\b
    | [A-Za-z]{{0,2}}["'] | (?P<other>{_NAME}|[(\[])
    """,
    re.VERBOSE,
)
_LITERAL = re.compile(
    r"""
    \#[^\n]*
    | (?:\b[A-Za-z]{1,2})?
      (?: "{3}(?:\\.|[^\\])*?(?:"{3}|\Z) | '{3}(?:\\.|[^\\])*?(?:'{3}|\Z)
      | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' )
    """,
    re.VERBOSE | re.DOTALL,
)
_NEVER = re.compile(r"[`?$\u2018-\u2027\u3000-\u303f\uff00-\uffef]|!(?!=)|[^\W\d]\.$|\)\.$")
_WORD_OR_SIGN = re.compile(r"[^\W\d]\w*|\d[\w.]*|\S")
_NO_OPERAND = {*keyword.kwlist, *keyword.softkwlist} - {"None", "True", "False", "_"}
_HEAD_LENGTH = 1000
_ALIAS = re.compile(rf"(\*|{_NAME})(?:\.{_NAME})*(?:[ ]+as[ ]+({_NAME}))?")


class Line(NamedTuple):
    """A logical line: its physical lines, how deep it stands, and whether it is only a comment."""

    text: str
    indent: int
    blank: bool


@dataclass(frozen=True)
class Statement:
    """A statement of the outermost level, with what belongs under it."""

    text: str
    head: str

    @cached_property
    def names(self) -> frozenset[str]:
        """The names that it defines: functions, classes, imports (or ``*``), assignments."""
        match = _HEAD.match(re.sub(r"#[^\n]*", "", self.head))
        if not match:
            return frozenset()
        listed = match["modules"] or match["members"] or match["targets"]
        if not listed:
            return frozenset([match["function"] or match["cls"]])
        aliases = (_ALIAS.match(part.strip()) for part in listed.split(","))
        return frozenset(alias[2] or alias[1] for alias in aliases if alias)


def is_statement(line: str) -> bool:
    """Tell whether a line, without its indent, may be a Python statement, and is no prose.

    In prose two words follow each other, which in Python needs an operator or a keyword between
    them, and sentences end in a full stop.

    >>> is_statement("return x if x else y"), is_statement("return the larger of both")
    (True, False)
    """
    begin = _BEGIN.match(line)
    if not begin:
        return False
    head = line
    if len(line) > _HEAD_LENGTH:
        head = line[:_HEAD_LENGTH].rpartition("\n")[0] or line[:_HEAD_LENGTH]
    bare = _LITERAL.sub(" ", head).rstrip()
    if (begin["block"] and ":" not in bare) or (begin["other"] and not re.search(r"[=(]", bare)):
        return False
    if _NEVER.search(bare):
        return False
    operands = [
        word not in _NO_OPERAND and (word[0] == "_" or word[0].isalnum())
        for word in _WORD_OR_SIGN.findall(bare)
    ]
    return not any(itertools.starmap(operator.and_, itertools.pairwise(operands)))


def past_strings(text: str, position: int, target: int) -> int:
    """Return ``target``, or where the triple-quoted string ends that ``target`` lies in.

    ``position`` is a place before it, outside of strings. A string that never ends is none.

    >>> past_strings("'''(''')", 0, 3), past_strings("'''(''')", 0, 7), past_strings("'''(", 0, 3)
    (7, 7, 3)
    """
    while position < target and (match := _TOKEN.search(text, position, target)):
        position = match.end()
        if match[0] in _CLOSING:
            position = max(position, _string_end(text, position, match[0]))
    return max(position, target)


def _string_end(text: str, position: int, quote: str) -> int:
    for match in _CLOSING[quote].finditer(text, position):
        if match[0] == quote:
            return match.end()
    return -1


def logical_lines(code: str) -> Iterator[Line]:
    r"""Yield the logical lines of ``code``; their texts together are ``code``.

    Strings and brackets may hold line ends. A bracket that prose leaves open ends where a
    definition begins.

    >>> [line.indent for line in logical_lines("x = [\n1]\nif x:\n    y\n")]
    [0, 0, 4]
    """
    start = position = depth = 0
    while match := _TOKEN.search(code, position):
        token, position = match[0], match.end()
        if token in _CLOSING:
            end = _string_end(code, position, token)
            position = len(code) if end < 0 else end
        elif token in "([{":
            depth += 1
        elif token in ")]}":
            depth = max(0, depth - 1)
        elif token == "\n" and (depth == 0 or _RESTART.match(code, position)):
            yield _line(code[start:position])
            start, depth = position, 0
    if start < len(code):
        yield _line(code[start:])


def _line(text: str) -> Line:
    bare = text.lstrip(" \t\f\n")
    indent = text[: len(text) - len(bare)].rpartition("\n")[2]
    return Line(text, len(indent.expandtabs()), not bare or bare.startswith("#"))


def statements(code: str) -> list[Statement]:
    r"""Return the statements of the outermost level; their texts together are ``code``.

    >>> [sorted(s.names) for s in statements("import a.b, c as d\n@e\ndef f():\n    g = 1\n")]
    [['a', 'd'], ['f']]
    """
    groups: list[list[Line]] = []
    heads: list[str] = []
    decorated = False
    for line in logical_lines(code):
        bare = line.text.lstrip(" \t\f\n")
        inside = line.blank or line.indent > 0 or _CONTINUES.match(bare) is not None
        if heads and (inside or decorated):
            groups[-1].append(line)
        else:
            groups.append([line])
            heads.append("")
        if decorated or not heads[-1]:
            heads[-1] = "" if line.blank else bare
        if not line.blank and (decorated or not inside):
            decorated = bare.startswith("@")
    pairs = zip(groups, heads, strict=True)
    return [Statement("".join(line.text for line in group), head) for group, head in pairs]
