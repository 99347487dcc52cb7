"""Fenced blocks of Markdown, as models write them."""

from __future__ import annotations

__all__ = ["Block", "fenced_blocks", "outside_fences", "unquoted"]

import re
from collections.abc import Iterator
from typing import NamedTuple

from pytest_evalplug.evaluation.postprocess.python_source import past_strings

_OPEN = re.compile(
    r"^(?P<margin>[ \t]*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)?)(?P<fence>`{3,}|~{3,})(?P<info>[^\n`]*)$",
    re.MULTILINE,
)
_CLOSE = {
    "`": re.compile(r"(?<!`)(?P<fence>`{3,})(?P<info>[^\n`]*)$", re.MULTILINE),
    "~": re.compile(r"(?<!~)(?P<fence>~{3,})(?P<info>[^\n~]*)$", re.MULTILINE),
}
_CODE_IN_INFO = re.compile(r"\s*(?:(?:async )?def|class|import|from|@)\b.*\W")
_WRAPPERS = ("markdown", "md")
_FIRST = re.compile(r"^[ \t>]*(?:```|~~~)", re.MULTILINE)
_QUOTE = re.compile(r"^ {0,3}> ?", re.MULTILINE)


class Block(NamedTuple):
    """What stands in a fence, and the language named there, in lower case or ``""``."""

    language: str
    code: str


def fenced_blocks(text: str) -> list[Block]:
    r"""Return the fenced blocks of ``text``, line ends being ``\n``; a last one may be unclosed.

    A fence closes at the next one of its kind that names no language, even at the end of a line
    of code; one that names a language begins a new block. Fences in a string in triple quotes,
    which a program may hold, are none. A block that stands in a list loses the list's margin.

    >>> fenced_blocks("Use:\n```python\nx = '''\n```\n'''\n```")
    [Block(language='python', code="x = '''\n```\n'''\n")]
    """
    return [block for block, _, _ in _blocks(text)]


def outside_fences(text: str) -> str:
    r"""Return ``text`` without its fenced blocks.

    >>> outside_fences("x = 1\n```\ny\n```\nz = 2")
    'x = 1\n\nz = 2'
    """
    kept, position = [], 0
    for _, start, end in _blocks(text):
        kept.append(text[position:start])
        position = end
    return "".join([*kept, text[position:]])


def unquoted(text: str) -> str:
    r"""Return ``text`` without the marks of a block quote, where its first fence stands in one.

    >>> unquoted("> ```\n> x > 1\n> ```")
    '```\nx > 1\n```'
    """
    first = _FIRST.search(text)
    return _QUOTE.sub("", text) if first and ">" in first[0] else text


def _blocks(text: str) -> Iterator[tuple[Block, int, int]]:
    """Yield the blocks, and where they start and end with their fences."""
    position = 0
    while opening := _OPEN.search(text, position):
        info, start = opening["info"], opening.end()
        language = re.sub(r"^[\s{.]*", "", info.lower())
        language = re.split(r"[\s{}:,]", language, maxsplit=1)[0]
        if language in _WRAPPERS:
            position = start
            continue
        if _CODE_IN_INFO.match(info):
            start, language = opening.start("info"), ""
        closing = _closing(text, start, opening["fence"])
        code = text[start : closing.start() if closing else len(text)]
        position = closing.end() if closing else len(text)
        if closing and closing["info"].strip():  # it opens the next block
            position = _line_start(text, closing.start())
        block = Block(language, _without_margin(code.removeprefix("\n"), opening))
        yield block, opening.start(), position


def _closing(text: str, start: int, fence: str) -> re.Match[str] | None:
    position = start
    for found in _CLOSE[fence[0]].finditer(text, start):
        position = past_strings(text, position, found.start())
        if position > found.start():
            continue
        alone = not text[_line_start(text, found.start()) : found.start()].strip()
        named = found["info"].strip()
        if (alone or not named) and (named or len(found["fence"]) >= len(fence)):
            return found
    return None


def _line_start(text: str, position: int) -> int:
    return text.rfind("\n", 0, position) + 1


def _without_margin(code: str, opening: re.Match[str]) -> str:
    width = len(opening["margin"].expandtabs())
    return re.sub(rf"^ {{0,{width}}}", "", code, flags=re.MULTILINE) if width else code
