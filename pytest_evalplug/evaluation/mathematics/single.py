r"""Reading a single value: a number or expression with its unit, digits in a base, words."""

from __future__ import annotations

__all__ = ["read_scalar", "read_value", "read_words", "real_line"]

import re
from collections.abc import Sequence

from pytest_evalplug.evaluation.mathematics.answer import (
    Answer,
    Based,
    Group,
    Scalar,
    Several,
    Words,
)
from pytest_evalplug.evaluation.mathematics.expression import Node, read_expression
from pytest_evalplug.evaluation.mathematics.tokens import (
    FUNCTIONS,
    Token,
    Unreadable,
    canonical,
    untokenize,
)
from pytest_evalplug.evaluation.mathematics.units import DEGREE, find_unit

Tokens = Sequence[Token]

_MAX_ELSEWHERE = 200
"""Tokens up to which another parser is asked: it takes long for much more."""
_KNOWN_ELSEWHERE = re.compile(
    r"[-+*/^_()\[\]{}|,&!'=]|\\\\|\\(?:begin|end):\w+"
    r"|\\(?:i{1,3}nt|oint|sum|prod|lim|to|max|min|gcd|det|frac|sqrt|binom|pi|infty|partial)"
)
"""Besides functions and letters: of what it doesn't know, it may leave out more than that."""
_CURRENCIES = frozenset("$€£¥₹")
_EMPTY = re.compile(r"(?:the )?empty set|(?:there (?:is|are) )?no (?:real )?solutions?")
_REALS = re.compile(r"(?:the )?(?:set of )?(?:all )?(?:real numbers|reals)|全体实数|所有实数")
_UNIT = re.compile(r"[w%$€£¥₹](?: (?:\^ (?:[23]|\{ -? ?[123] \})|/ [hsmlg]\b|[w/*.-]))*")
_BASES = {"two": "2", "three": "3", "five": "5", "seven": "7", "eight": "8", "ten": "10"}
_BASED = re.compile(
    rf"\(?(\d[0-9A-Z]*|[0-9A-Fa-f]{{2,}}(?=\)?(?:_[{{(]{{0,2}}|base)16\b))\)?"
    rf"(?:_[{{(]{{0,2}}|base)(\d{{1,2}}|{'|'.join(_BASES)})[)}}]{{0,2}}"
)


def read_value(tokens: Tokens) -> Answer:
    """Return the words, the digits in a base, or the one value that the tokens are."""
    text = canonical(tokens)
    if all(t.kind == "text" for t in tokens):
        return read_words(" ".join(t.value for t in tokens))
    if based := _BASED.fullmatch(text.replace(" ", "")):
        digits, base = based[1].upper().lstrip("0") or "0", based[2]
        return Based(text, digits, int(_BASES.get(base, base)))
    return read_scalar(tokens)


def read_words(text: str) -> Answer:
    """Return words, which may say that a set is empty."""
    plain = text.strip(" .").lower()
    if _EMPTY.fullmatch(plain):
        return Several(text, (), is_set=True)
    if _REALS.fullmatch(plain):
        return real_line(text)
    return Words(text)


def real_line(text: str = "") -> Group:
    """Return all real numbers."""
    infinity = Node("constant", ("oo",))
    return Group(text, "()", (Scalar("", Node("negative", (infinity,))), Scalar("", infinity)))


def read_scalar(tokens: Tokens) -> Scalar:
    """Return one value; words among it other than a unit behind it make it unreadable."""
    text = canonical(tokens)
    body, unit = _without_unit(list(tokens))
    if any(t.kind == "text" for t in body):
        return Scalar(text, None)
    known = len(body) <= _MAX_ELSEWHERE and all(map(_is_known_elsewhere, body))
    latex = untokenize(canonical(body)) if known else ""
    try:
        return Scalar(text, read_expression(body), unit, latex)
    except Unreadable:
        return Scalar(text, None, unit, latex)


def _is_known_elsewhere(token: Token) -> bool:
    plain = token.kind in ("number", "letter") or token.value[1:] in FUNCTIONS
    return plain or _KNOWN_ELSEWHERE.fullmatch(token.value) is not None


def _without_unit(tokens: list[Token]) -> tuple[list[Token], tuple[str, ...]]:
    """Return the tokens without unit or currency, and which that was."""
    for i in range(min(2, len(tokens) - 1)):
        if tokens[i].value in _CURRENCIES:
            return tokens[:i] + tokens[i + 1 :], find_unit(tokens[i].value)
    end = next((i for i, t in enumerate(tokens) if t.kind == "text"), len(tokens))
    if _is_degree(tokens[:end]):
        end = max(i for i, t in enumerate(tokens[:end]) if t.value == "^")
        return tokens[:end], (DEGREE,)
    if end == len(tokens) and end > 1 and tokens[-1].value in _CURRENCIES | {"%"}:
        end -= 1
    tail = tokens[end:]
    if not end or not _UNIT.fullmatch(" ".join("w" if t.kind == "text" else t.value for t in tail)):
        return tokens, ()
    return tokens[:end], find_unit(canonical(tail))


def _is_degree(tokens: list[Token]) -> bool:
    values = "".join(t.value for t in tokens[-5:])
    if any(t.kind == "command" and t.value[1:] in FUNCTIONS for t in tokens):
        return False  # the degrees of an angle, not of the value
    return re.search(r"\^\{?\\circ\}?[CF]?$", values) is not None and len(tokens) > 1
