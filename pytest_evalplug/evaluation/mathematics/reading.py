r"""Reading a formula as an Answer."""

from __future__ import annotations

__all__ = ["read_answer"]

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from pytest_evalplug.evaluation.mathematics.answer import (
    Answer,
    Group,
    Matrix,
    Named,
    Relation,
    Scalar,
    Several,
    Words,
)
from pytest_evalplug.evaluation.mathematics.expression import Node, read_expression, variables
from pytest_evalplug.evaluation.mathematics.single import (
    read_scalar,
    read_value,
    read_words,
    real_line,
)
from pytest_evalplug.evaluation.mathematics.tokens import (
    FUNCTIONS,
    Token,
    Unreadable,
    canonical,
    tokenize,
)

Tokens = Sequence[Token]

_OPENING = frozenset(("(", "[", "{", r"\{", r"\langle"))
_CLOSING = frozenset((")", "]", "}", r"\}", r"\rangle"))
_EQUAL = frozenset(("=", r"\equiv"))
_ORDER = {"<": "<", r"\le": "<=", ">": ">", r"\ge": ">="}
_CONDITIONS = set(_ORDER) | {r"\in", r"\ne"}
_RELATIONS = _EQUAL | _CONDITIONS
_QUALIFIERS = frozenset(
    ("for", "where", "with", "when", "if", "such", "since", "because", "as", "which", "given")
)
_JOINTS = frozenset(("and", "or", "and/or", "和", "或", "或者", "与"))
_NO_LABEL = re.compile(r"\bnot\b|n't\b|不|[负一二两三四五六七八九十百千万又点]$")
_PROSE = re.compile(r"(?=.*[A-Za-z]{4}|(?i:yes|no|odd)\b)[A-Za-z'\-]+(?:[ ,]+[A-Za-z'\-]+)*")
_INFINITY = Node("constant", ("oo",))


def read_answer(latex: str) -> Answer:
    """Return what ``latex`` says; what can't be read is Words, or a Scalar without a node."""
    plain = latex.strip().rstrip(".")
    if _PROSE.fullmatch(plain) and not FUNCTIONS.intersection(plain.split()):
        return read_words(plain)
    try:
        return _read(tokenize(latex))
    except Unreadable:
        return Words("".join(latex.split()))


def _read(tokens: Tokens) -> Answer:
    text = canonical(tokens)
    tokens = _trim(tokens)
    readings = (
        *(_several, _related, _union, _bracketed, _point, _matrix, _plus_minus),
        read_value,
    )
    answer = next(filter(None, (reading(tokens) for reading in readings)), None)
    return Words(text) if answer is None else replace(answer, text=text)


# What stands around an answer


def _trim(tokens: Tokens) -> Tokens:
    """Return the answer without labels before it, and conditions and full stops after it."""
    tokens = list(tokens)
    for i, token in enumerate(tokens):
        if i and token.kind == "text" and token.value.split()[0].lower() in _QUALIFIERS:
            tokens = tokens[:i]
            break
    while tokens and tokens[-1].value in (".", ",", ";", ":", "~", "。", "\\\\"):
        tokens.pop()
    while tokens and tokens[0].value in ("}", "="):  # of a text or equation that was cut off
        tokens.pop(0)
    tokens = _without_condition(tokens)
    while len(tokens) > 1 and tokens[0].value in ("{", "$") and _closes(tokens) == len(tokens) - 1:
        tokens = tokens[1:-1]
    return _without_label(tokens)


def _without_condition(tokens: Tokens) -> list[Token]:
    r"""Return the tokens without a condition in brackets at their end: ``2k\pi (k > 0)``."""
    start = max((i for i, t in enumerate(tokens) if t.value == "("), default=0)
    ends = start > 0 and _closes(tokens[start:]) == len(tokens) - start - 1
    if not ends or tokens[start - 1].kind == "letter" or not _is_condition(tokens[start:]):
        return list(tokens)  # among them P(X > 2)
    return list(tokens[:start])


def _without_label(tokens: Tokens) -> Tokens:
    count = next((i for i, t in enumerate(tokens) if t.kind != "text"), len(tokens))
    if count == len(tokens) or tokens[count].value in _RELATIONS or _is_joint(tokens[count]):
        return tokens
    label = canonical(tokens[:count])
    if not count or len(label.split()) > 4 or _NO_LABEL.search(label):
        return tokens
    return tokens[count + 1 :] if tokens[count].value == ":" else tokens[count:]


def _closes(tokens: Tokens) -> int | None:
    """Return where the bracket that opens ``tokens`` closes."""
    if tokens[0].value == "$":
        return next((i for i, t in enumerate(tokens) if i and t.value == "$"), None)
    depth = 0
    for i, token in enumerate(tokens):
        depth += _nesting(token)
        if not depth:
            return i
    return None


def _nesting(token: Token) -> int:
    opens = token.value in _OPENING or token.value.startswith(r"\begin:")
    return opens - (token.value in _CLOSING or token.value.startswith(r"\end:"))


def _split(tokens: Tokens, separates: Callable[[Token], bool]) -> tuple[list[list[Token]], Tokens]:
    """Return the parts between the separators outside of brackets, and the separators."""
    parts: list[list[Token]] = [[]]
    separators = []
    depth = 0
    for token in tokens:
        depth += _nesting(token)
        if not depth and separates(token):
            parts.append([])
            separators.append(token)
        else:
            parts[-1].append(token)
    return parts, separators


# Lists, sets, unions


def _several(tokens: Tokens) -> Answer | None:
    parts, found = _split(tokens, _is_joint)
    parts = [part for part in parts if part]
    if not found or not parts:
        return None
    if not _is_condition(parts[0]):
        parts = [part for part in parts if not _is_condition(part)]
    return _read(parts[0]) if len(parts) == 1 else Several("", _flat(map(_read, parts)))


def _is_condition(tokens: Tokens) -> bool:
    r"""Tell whether a part only says what another is about: ``x \ne 3``, ``k \in \mathbb{Z}``."""
    return any(t.value in _CONDITIONS for t in tokens)


def _is_joint(token: Token) -> bool:
    if token.kind == "text":
        return token.value.lower().strip(" ,") in _JOINTS
    return token.value in (",", ";", r"\lor", r"\vee")


def _flat(answers: Iterable[Answer]) -> tuple[Answer, ...]:
    r"""Return answers with the lists among them (``\pm``) taken apart."""
    flat: list[Answer] = []
    for answer in answers:
        inner = answer.value if isinstance(answer, Named) else answer
        loose = isinstance(inner, Several) and not inner.is_set
        flat.extend(inner.items if loose and isinstance(inner, Several) else [answer])
    return tuple(flat)


def _union(tokens: Tokens) -> Answer | None:
    parts, found = _split(tokens, lambda t: t.value in (r"\cup", "U"))
    if not found or not all(parts):
        return None
    answers = [_read(part) for part in parts]
    if any(not isinstance(a, (Group, Several)) for a in answers):
        return None
    return Several("", _flat(answers), is_set=True)


def _plus_minus(tokens: Tokens) -> Answer | None:
    if not any(t.value in (r"\pm", r"\mp") for t in tokens):
        return None
    upper, lower = {r"\pm": "+", r"\mp": "-"}, {r"\pm": "-", r"\mp": "+"}
    both = [
        read_scalar([Token("symbol", signs[t.value]) if t.value in signs else t for t in tokens])
        for signs in (upper, lower)
    ]
    return Several("", tuple(filter(None, both)))


# Brackets and matrices


def _bracketed(tokens: Tokens) -> Answer | None:
    if len(tokens) == 1 and tokens[0].value == r"\emptyset":
        return Several("", (), is_set=True)
    if len(tokens) == 1 and tokens[0].value == r"\mathbb:R":
        return real_line()
    if not tokens or tokens[0].value not in _OPENING or _closes(tokens) != len(tokens) - 1:
        return None
    inner = tokens[1:-1]
    if tokens[0].value == r"\{":
        return _set(inner)
    parts, _ = _split(inner, lambda t: t.value in (",", ";"))
    if len(parts) == 1:
        answer = _read(inner)
        round_ones = tokens[0].value == "(" and tokens[-1].value == ")"
        return answer if round_ones or isinstance(answer, Matrix) else None
    brackets = tokens[0].value + tokens[-1].value
    plain = brackets.replace(r"\langle", "(").replace(r"\rangle", ")")
    return Group("", plain, tuple(map(_read, parts)))


def _point(tokens: Tokens) -> Answer | None:
    """Return coordinates with the name of their point: ``P(2, 3)``."""
    if len(tokens) < 6 or not tokens[0].value.isupper() or tokens[1].value != "(":
        return None
    group = _bracketed(tokens[1:])
    return Named("", tokens[0].value, group) if isinstance(group, Group) else None


def _set(inner: Tokens) -> Answer:
    if not inner:
        return Several("", (), is_set=True)
    builder, bars = _split(inner, lambda t: t.value in ("|", ":"))
    if len(bars) == 1 and _is_variable(_until(builder[0], r"\in")):
        return _read(builder[1])
    parts, _ = _split(inner, _is_joint)
    return Several("", _flat(_read(part) for part in parts if part), is_set=True)


def _until(tokens: Tokens, value: str) -> Tokens:
    return next((tokens[:i] for i, t in enumerate(tokens) if t.value == value), tokens)


def _matrix(tokens: Tokens) -> Answer | None:
    if not tokens or not re.fullmatch(
        r"\\begin:(?:[pbB]?matrix|smallmatrix|array)", tokens[0].value
    ):
        return None
    if _closes(tokens) != len(tokens) - 1:
        return None
    inner = list(tokens[1:-1])
    if tokens[0].value == r"\begin:array" and inner and inner[0].value == "{":
        inner = inner[(_closes(inner) or 0) + 1 :]
    lines, _ = _split(inner, lambda t: t.value == "\\\\")
    rows = [_split(line, lambda t: t.value == "&")[0] for line in lines if line]
    return Matrix("", tuple(tuple(map(_read, row)) for row in rows))


# Equations and inequalities


def _related(tokens: Tokens) -> Answer | None:
    parts, found = _split(tokens, lambda t: t.value in _RELATIONS)
    if not found:
        return None
    ops = [token.value for token in found]
    if not all(parts):
        return Scalar("", None)
    if all(op in _EQUAL for op in ops):
        return _equation(parts)
    if ops == [r"\in"] and _is_name(parts[0]):
        return Named("", canonical(parts[0]), _read(parts[1]))
    if ops == [r"\ne"] and _is_variable(parts[0]):
        point = read_scalar(parts[1])
        low, high = Node("negative", (_INFINITY,)), _INFINITY
        halves = (_interval("()", Scalar("", low), point), _interval("()", point, Scalar("", high)))
        return Named("", canonical(parts[0]), Several("", halves, is_set=True))
    if all(op in _ORDER for op in ops):
        return _inequality(parts, [_ORDER[op] for op in ops])
    return Scalar("", None)


def _equation(parts: list[list[Token]]) -> Answer:
    first, last = parts[0], parts[-1]
    if len(parts) == 2 and _is_name(last) and not _is_name(first):
        first, last = last, first
    relation = Relation("", "=", read_scalar(first), read_scalar(last))
    if not _is_name(first):
        return relation
    applied = any(t.value == "(" for t in first)
    return Named("", canonical(first), _read(last), None if applied else relation)


def _inequality(parts: list[list[Token]], ops: list[str]) -> Answer:
    if ops[0].startswith(">"):
        parts, ops = parts[::-1], [op.replace(">", "<") for op in reversed(ops)]
    if not all(op.startswith("<") for op in ops) or len(parts) > 3:
        return Scalar("", None)
    sides = [read_scalar(part) for part in parts]
    if len(parts) == 2:
        relation = Relation("", ops[0], sides[0], sides[1])
        if _is_variable(parts[0]) and _is_fixed(sides[1]):
            low = Scalar("", Node("negative", (_INFINITY,)))
            group = _interval("(]" if ops[0] == "<=" else "()", low, sides[1])
            return Named("", canonical(parts[0]), group, relation)
        if _is_variable(parts[1]) and _is_fixed(sides[0]):
            group = _interval("[)" if ops[0] == "<=" else "()", sides[0], Scalar("", _INFINITY))
            return Named("", canonical(parts[1]), group, relation)
        return relation
    if _is_variable(parts[1]) and _is_fixed(sides[0]) and _is_fixed(sides[2]):
        brackets = ("[" if ops[0] == "<=" else "(") + ("]" if ops[1] == "<=" else ")")
        return Named("", canonical(parts[1]), _interval(brackets, sides[0], sides[2]))
    return Scalar("", None)


def _interval(brackets: str, low: Scalar, high: Scalar) -> Group:
    return Group("", brackets, (low, high))


def _is_fixed(side: Scalar) -> bool:
    return side.node is not None and not variables(side.node)


def _is_variable(tokens: Tokens) -> bool:
    try:
        return read_expression(tokens).op == "variable"
    except Unreadable:
        return False


def _is_name(tokens: Tokens) -> bool:
    r"""Tell whether these name what is asked for: ``x``, ``f(x)``, ``AB``, ``Area``."""
    if _is_variable(tokens):
        return True
    kinds = {t.kind for t in tokens if t.value not in (r"\angle", r"\triangle")}
    if kinds and kinds <= {"letter", "text"}:
        return True
    if len(tokens) < 4:
        return False
    if tokens[0].value == "(":
        return all(_is_variable([t]) or t.value == "," for t in tokens[1:-1])
    applied = tokens[0].kind == "letter" and tokens[1].value == "("
    return applied and _closes(tokens[1:]) == len(tokens) - 2
