"""The program in a reply."""

from __future__ import annotations

__all__ = ["code", "extract_program"]

import re
import textwrap
from collections.abc import Iterator
from itertools import chain
from typing import Any

from pytest_evalplug.evaluation.postprocess.fences import fenced_blocks, outside_fences, unquoted
from pytest_evalplug.evaluation.postprocess.function_body import function_body
from pytest_evalplug.evaluation.postprocess.python_source import (
    Statement,
    is_statement,
    statements,
)
from pytest_evalplug.evaluation.postprocess.reply import TURN_END
from pytest_evalplug.evaluation.postprocess.think import without_reasoning
from pytest_evalplug.evaluation.registry import postprocessors

Piece = list[Statement]

_OTHER_LANGUAGES = re.compile(
    r"(?:bash|sh|shell|zsh|console|terminal|powershell|cmd|te?xt|plaintext|output|json|ya?ml|toml"
    r"|ini|csv|xml|html|css|diff|javascript|jsx?|tsx?|typescript|java|kotlin|scala|groovy|c|h"
    r"|cpp|c\+\+|csharp|c\#|go|rust|rs|ruby|rb|php|perl|lua|r|julia|swift|haskell|ocaml|sql"
    r"|latex|tex|makefile|dockerfile)"
)
_TURN_END = re.compile(rf"{TURN_END}[ \t]*$", re.MULTILINE)
_MAIN_GUARD = re.compile(r"if\b[^\n]*\b__name__\b")
_FUTURE = re.compile(r"^from __future__ import [^\n]+\n?", re.MULTILINE)
_DEFINITION = re.compile(r"(?:async[ ]+)?def\b|class\b|import\b|from\b|@")
_IMPORT = re.compile(r"import\b|from\b")
_FUNCTION = re.compile(r"(?:async[ ]+)?def\b|class\b")
_METHOD = re.compile(r"^([ \t]+)(?:async[ ]+)?def[ ]+(\w+)", re.MULTILINE)
_GIVES = re.compile(r"^[ \t]*(?:return|yield|raise)\b", re.MULTILINE)
_ODD_INDENT = re.compile(r"^[ \t\xa0\u200b-\u200f\u2060\u3000\ufeff]+", re.MULTILINE)
_PLAIN_INDENT = {0xA0: " ", 0x3000: " ", **dict.fromkeys((*range(0x200B, 0x2010), 0x2060, 0xFEFF))}
_TYPED = re.compile(r"^[ \t]*(?:>>>|\.\.\.)(?: (.*))?$", re.MULTILINE)
_ONE_LINER = re.compile(
    r"`(?:``)?(?:python|py)? *((?:async )?def [^`\n]{1,200}\)[^`\n:]{0,100}: *[^`\s][^`\n]*)`"
)
_IDENTIFIER = re.compile(r"[^\W\d]\w*")


@postprocessors.register("code")
def code(text: Any, *, entry_point: str = "", prompt: str = "", invalid: str = "") -> str:
    r"""Return the program in a reply as :func:`extract_program` does, else ``invalid``.

    >>> code("Here you are:\n```python\ndef f(x):\n    return x\n```\nUsage: `f(3)`")
    'def f(x):\n    return x\n'
    """
    return extract_program(text, entry_point=entry_point, prompt=prompt) or invalid


def extract_program(reply: Any, *, entry_point: str = "", prompt: str = "") -> str:
    r"""Return the Python program that a reply gives, whole and ready to run, ``""`` for none.

    The last block that defines ``entry_point`` counts, and of the rest what it needs: imports,
    helpers, constants. A block is what stands in a fence, or without fences what stands together
    between the prose. A reply that defines nothing of that name continues the last function of
    ``prompt``, at whatever depth its lines stand, up to where the function ends, or is the last
    method of its class. What ``prompt`` defines comes first in all cases. What runs under the
    main guard and what stands in reasoning are left out. Without ``entry_point`` it is the
    prompt's last function, or else any.

    The rule is ours; HumanEval and MBPP (Chen et al. 2021, Austin et al. 2021) take completions
    only. Nothing is parsed or run, and the time is linear.

    >>> extract_program("    return x * 10\n\nIt multiplies.", prompt="def f(x):\n    '''10x'''\n")
    "def f(x):\n    '''10x'''\n    return x * 10\n"
    """
    stub = _stub(_plain(prompt))
    name = entry_point or _last_function(stub)
    turn = _TURN_END.split(_plain(reply), maxsplit=1)[0]
    pieces = _pieces(unquoted(turn), name)
    if not _defines(stub, name):
        return _whole(pieces, [s for s in stub if s.names], name)
    whole = _whole(pieces, [s for s in stub if name not in s.names], name, strict=True)
    if not whole or _text(pieces[0]).lstrip("\n")[:1].isspace():
        return _with_method(stub, pieces) or _completed(stub, pieces) or whole
    return whole


def _plain(text: Any) -> str:
    """Return the text without reasoning, with plain line ends, and indents of plain spaces."""
    lines = re.sub(r"\r\n?", "\n", without_reasoning(text))
    return _ODD_INDENT.sub(lambda indent: indent[0].translate(_PLAIN_INDENT), lines)


def _pieces(text: str, name: str) -> list[Piece]:
    """Return what the reply has of code: its blocks, else what stands between the prose too."""
    blocks = _blocks(text, name)
    if any(_defines(block, name) for block in blocks):
        return blocks
    pieces = [*filter(None, _runs(_aligned(outside_fences(text), name))), *blocks]
    return pieces or [statements(f"{line}\n") for line in _ONE_LINER.findall(text)]


def _blocks(text: str, name: str = "") -> list[Piece]:
    blocks = [block for block in fenced_blocks(text) if block.code.strip()]
    python = [block for block in blocks if not _OTHER_LANGUAGES.fullmatch(block.language)] or blocks
    return [_unguarded(statements(_aligned(block.code, name))) for block in python]


def _runs(text: str) -> Iterator[Piece]:
    """Yield the statements that follow each other, and what stands indented under prose."""
    run: Piece = []
    for statement in statements(text):
        if not statement.head or is_statement(statement.head):
            run.append(statement)
            continue
        yield _unguarded(run)
        under = statements(statement.text.partition("\n")[2])
        run = [s for s in under if is_statement(s.head)]
    yield _unguarded(run)


def _unguarded(piece: Piece) -> Piece:
    return [s for s in piece if not _MAIN_GUARD.match(s.head)]


def _aligned(code: str, name: str) -> str:
    """Return ``code`` with the definition of ``name`` at the margin, where all is indented.

    Of an interactive session it is what was typed.
    """
    if code.lstrip().startswith(">>> "):
        code = "\n".join(_TYPED.findall(code))
    definition = rf"(?:async +)?(?:def|class) +{re.escape(name)}\b"
    if name and re.search(rf"^{definition}", code, re.MULTILINE):
        bare = code.lstrip()
        return bare if _DEFINITION.match(bare) else code
    found = name and re.search(rf"^([ \t]+){definition}", code, re.MULTILINE)
    if not found or re.search(r"^class\b", code, re.MULTILINE):
        return code
    return re.sub(rf"^[ \t]{{1,{len(found[1])}}}", "", code, flags=re.MULTILINE)


def _stub(prompt: str) -> Piece:
    """Return the prompt's code: what its last fence holds, or all that is no prose."""
    if blocks := _blocks(prompt):
        return blocks[-1]
    return list(chain.from_iterable(_runs(prompt)))


def _last_function(piece: Piece) -> str:
    names = [next(iter(s.names)) for s in piece if _FUNCTION.match(s.head)]
    return names[-1] if names else ""


def _defines(piece: Piece, name: str) -> bool:
    if not name:
        return any(_FUNCTION.match(s.head) for s in piece)
    return any(name in s.names and not _IMPORT.match(s.head) for s in piece)


def _whole(pieces: list[Piece], preamble: Piece, name: str, *, strict: bool = False) -> str:
    """Return the last piece that defines ``name`` with what it needs of the others.

    If there is none, and it is not ``strict``, one that defines anything will do.
    """
    ranked = [piece for piece in pieces if _defines(piece, name)]
    if not ranked and not strict:
        ranked = [p for p in pieces if _defines(p, "")] or ([] if name else pieces)
    if not ranked:
        return ""
    main = ranked[-1]
    others = [s for piece in pieces if piece is not main for s in piece]
    return _program([*preamble, *_needed(main, others), *main])


def _needed(main: Piece, others: Piece) -> Piece:
    """Return those of the other statements that ``main`` uses the names of, directly or not."""
    home = {name: s for s in others if _is_definition(s) for name in s.names}
    known = set().union(*(s.names for s in main))
    chosen: set[int] = set()
    words = ["*", *(word for s in main for word in _IDENTIFIER.findall(s.text))]
    while words:
        word = words.pop()
        if word in known or word not in home:
            continue
        known |= home[word].names
        chosen.add(id(home[word]))
        words += _IDENTIFIER.findall(home[word].text)
    return [s for s in others if id(s) in chosen]


def _is_definition(statement: Statement) -> bool:
    """Tell whether nothing runs but a definition: a call may wait for input, or fail."""
    return _DEFINITION.match(statement.head) is not None or "(" not in statement.text


def _with_method(stub: Piece, pieces: list[Piece]) -> str:
    """Return the prompt's class with its last method as one of the pieces has it, else ``""``."""
    text = _text(stub)
    methods = [*_METHOD.finditer(text)]
    if not methods or not stub[-1].head.startswith("class"):
        return ""
    margin, name = methods[-1].groups()
    for piece in reversed(pieces):
        found = statements(textwrap.dedent(_text(piece)))
        if _defines(found, name):
            imports = [s for s in found if _IMPORT.match(s.head)]
            given = [s for s in found if _is_definition(s) and not _IMPORT.match(s.head)]
            method = textwrap.indent(_text(given), margin)
            parts = [*imports, Statement(text[: methods[-1].start()] + method, "")]
            others = [s for p in pieces if p is not piece for s in p]
            return _program([*_needed(parts, others), *parts])
    return ""


def _completed(stub: Piece, pieces: list[Piece]) -> str:
    """Return the prompt's code with the body that one of the pieces is, ``""`` if none is."""
    giving = [p for p in pieces if any(_GIVES.search(s.text) for s in p)]
    for piece in (giving or pieces)[::-1]:
        body, rest = function_body(_text(piece), _text(stub))
        if body:
            others = [s for p in pieces if p is not piece for s in p] + _unguarded(statements(rest))
            parts = [*stub, Statement(body, "")]
            return _program([*parts, *_needed(parts, others)])
    return ""


def _text(piece: Piece) -> str:
    return "".join(s.text if s.text.endswith("\n") else f"{s.text}\n" for s in piece)


def _program(piece: Piece) -> str:
    """Return the text, with imports from the future where they must stand."""
    text = _text(piece)
    future = _FUTURE.findall(text)
    return "".join(future) + _FUTURE.sub("", text) if future else text
