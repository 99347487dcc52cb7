r"""LaTeX, and what models write in its place, as tokens without what only lays it out."""

from __future__ import annotations

__all__ = ["FUNCTIONS", "Token", "Unreadable", "canonical", "tokenize", "untokenize"]

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from pytest_evalplug.evaluation.mathematics.units import UPRIGHT, is_unit
from pytest_evalplug.evaluation.postprocess.text import fold_maths

_MAX_LENGTH = 10_000
_MAX_TOKENS = 1_000
_MAX_DEPTH = 40

FUNCTIONS = frozenset(
    [
        "sin",
        "cos",
        "tan",
        "cot",
        "sec",
        "csc",
        "arcsin",
        "arccos",
        "arctan",
        "sinh",
        "cosh",
        "tanh",
        "log",
        "ln",
        "lg",
        "exp",
    ]
)
_CONSTANTS = {"pi": r"\pi", "infinity": r"\infty", "infty": r"\infty", "sqrt": r"\sqrt"}
_SHORT_WORDS = frozenset(
    [
        *("or", "and", "if", "for", "all", "any", "the", "is", "are", "yes", "no", "odd", "not"),
        *("so", "we", "get", "its", "it", "per", "by", "of", "at", "as", "to", "has"),
    ]
)

_ALIASES = {
    **dict.fromkeys((r"\dfrac", r"\tfrac", r"\cfrac"), r"\frac"),
    **dict.fromkeys((r"\dbinom", r"\tbinom"), r"\binom"),
    **dict.fromkeys((r"\leq", r"\leqslant", r"\leqq"), r"\le"),
    **dict.fromkeys((r"\geq", r"\geqslant", r"\geqq"), r"\ge"),
    **dict.fromkeys((r"\neq",), r"\ne"),
    **dict.fromkeys((r"\varnothing", r"\O"), r"\emptyset"),
    **dict.fromkeys((r"\lbrace",), r"\{"),
    **dict.fromkeys((r"\rbrace",), r"\}"),
    **dict.fromkeys((r"\lvert", r"\rvert", r"\vert", r"\mid"), "|"),
    **dict.fromkeys((r"\times", r"\cdot", r"\ast"), "*"),
    **dict.fromkeys((r"\div",), "/"),
    **dict.fromkeys((r"\lt",), "<"),
    **dict.fromkeys((r"\gt",), ">"),
    **dict.fromkeys((r"\colon",), ":"),
    **dict.fromkeys((r"\degree", r"\deg"), r"\circ"),
    **dict.fromkeys((r"\approx", r"\simeq", r"\sim"), "="),
    **dict.fromkeys((r"\lparen",), "("),
    **dict.fromkeys((r"\rparen",), ")"),
    **dict.fromkeys((r"\lbrack",), "["),
    **dict.fromkeys((r"\rbrack",), "]"),
    **dict.fromkeys((r"\imath",), "i"),
    r"\land": r"\wedge",
    r"\%": "%",
    r"\$": "$",
    r"\varphi": r"\phi",
    r"\iff": r"\Leftrightarrow",
    "**": "^",
    ">=": r"\ge",
    "<=": r"\le",
    "!=": r"\ne",
}
_DROPPED = frozenset(
    [rf"\{c}" for c in ",!;: "]
    + [
        r"\left",
        r"\right",
        r"\big",
        r"\Big",
        r"\bigg",
        r"\Bigg",
        r"\bigl",
        r"\bigr",
        r"\Bigl",
        r"\Bigr",
        r"\biggl",
        r"\biggr",
        r"\middle",
    ]
    + [
        r"\quad",
        r"\qquad",
        r"\displaystyle",
        r"\textstyle",
        r"\limits",
        r"\nolimits",
        r"\hspace",
        r"\boxed",
        r"\fbox",
    ]
    + [r"\(", r"\)", r"\[", r"\]"]
)
_UNICODE = {
    "×": r"\times ",
    "·": r"\cdot ",
    "⋅": r"\cdot ",
    "∙": r"\cdot ",
    "÷": "/",
    "∕": "/",
    "⁄": "/",
    "≤": r"\le ",
    "⩽": r"\le ",
    "≥": r"\ge ",
    "⩾": r"\ge ",
    "≠": r"\ne ",
    "≈": "=",
    "∞": r"\infty ",
    "√": r"\sqrt ",
    "∅": r"\emptyset ",
    "∪": r"\cup ",
    "∩": r"\cap ",
    "∈": r"\in ",
    "±": r"\pm ",
    "∓": r"\mp ",
    "°": r"^\circ ",
    "º": r"^\circ ",
    "⟨": r"\langle ",
    "⟩": r"\rangle ",
    "ℝ": r"\mathbb{R}",
    "ℤ": r"\mathbb{Z}",
    "π": r"\pi ",
    "θ": r"\theta ",
    "α": r"\alpha ",
    "β": r"\beta ",
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212\ufe63\uff0d", "-"),
    **dict.fromkeys("\u00a0\u2007\u2009\u202f", r"\,"),
}
_UNICODE_TABLE = str.maketrans(_UNICODE)
_MARK = r"(?:,\\!\s{0,3}|\{,\}|(?:\\[,;:!\ ]){1,2}|[~'\ ])"
_HAN = "\u3400-\u9fff"
_NUMERAL = "[一二两三四五六七八九十百成折点又]|分之|千(?![克米])"
"""What goes on with a number in Chinese, where a unit would say of what it is."""
_TOKEN = re.compile(
    rf"""
    (?P<repeating>\d*\.\d*\\(?:overline|dot)\s?\{{\s?\d+\s?\}})
  | (?P<endless>\d*\.\d*?(?P<period>\d{{1,6}}?)(?P=period){{1,10}}\s?(?:\.{{2,3}}|\\l?dots))
  | (?P<grouped>[1-9]\d{{0,2}}(?:{_MARK}\d{{3}})+(?!\d)(?:\.\d+)?)
  | (?P<comma>[1-9]\d{{0,2}}(?:,\d{{3}})+(?!\d)(?:\.\d+)?)
  | (?P<scientific>\d+(?:\.\d+)?[eE][+-]?\d{{1,12}}(?![\w.]))
  | (?P<number>\d+(?:\.\d+)?|\.\d+)
  | (?P<wrapped>\\(?:text|mbox|hbox|textbf|textit|textrm|textsf|emph|mathrm|mathbf|mathit|mathsf
      |operatorname|boldsymbol|bm|bf|rm)\*?\s?\{{)
  | (?P<env>\\(?:begin|end)\s?\{{\s?[a-zA-Z]+\*?\s?\}})
  | (?P<set>\\(?:mathbb|mathcal)\s?\{{?[A-Z]\}}?)
  | (?P<command>\\(?:[A-Za-z]+|.))
  | (?P<word>[A-Za-z]+)
  | (?:(?<=\d)|(?<=\d\s))(?P<myriads>[万亿])
  | (?P<han>(?<!\d)(?<!\d\s)[{_HAN}]+ | (?!{_NUMERAL})[{_HAN}]+)
  | (?P<symbol>\*\*|[<>!]=|\S)
    """,
    re.VERBOSE | re.DOTALL,
)
_OPENING = frozenset(("(", "[", r"\{", r"\langle"))
_CLOSING = frozenset((")", "]", r"\}", r"\rangle"))
_MEASURE = re.compile(r"([\d.,/%+\- ]*\d) +([A-Za-z][A-Za-z. ]*)")
_FORMULA = re.compile(rf"[\d.,\s/%+\-]*(?:(?<=\d)[{_HAN}]+)?|.*\\.*", re.DOTALL)

Kind = Literal["number", "letter", "command", "symbol", "text"]


class Unreadable(ValueError):
    """The text is no formula that is understood; it can still be compared as text."""


class Token(NamedTuple):
    """A number in plain digits (``1/3`` if it repeats), a letter, a command, a symbol, text."""

    kind: Kind
    value: str


def tokenize(latex: str) -> list[Token]:
    """Return the tokens of a formula; raises Unreadable if it is too long or too deep.

    Marks between groups of three digits go, a plain comma only outside of brackets, where it
    may separate coordinates. A run of letters is one text token if it is an English word or a
    unit, else single letters.
    """
    if len(latex) > _MAX_LENGTH:
        raise Unreadable("too long")
    depth = 0
    for char in latex:
        depth += (char in "([{") - (char in ")]}")
        if depth > _MAX_DEPTH:
            raise Unreadable("too deep")
    tokens: list[Token] = []
    _scan(fold_maths(latex.translate(_UNICODE_TABLE)), tokens)
    if len(tokens) > _MAX_TOKENS:
        raise Unreadable("too long")
    return tokens


def canonical(tokens: Sequence[Token]) -> str:
    """Return tokens as one text, equal for formulas that differ in layout only."""
    return " ".join(t.value.casefold() if t.kind == "text" else t.value for t in tokens)


def untokenize(text: str) -> str:
    r"""Return a canonical text as LaTeX again."""
    text = re.sub(r"\\(begin|end|mathbb|mathcal):(\w+)", r"\\\1{\2}", text)
    return text.replace("*", r"\cdot ")


def _scan(text: str, tokens: list[Token], brackets: int = 0) -> None:
    position = 0
    while match := _TOKEN.search(text, position):
        kind, value, position = _kind(match), match[0], match.end()
        if kind == "comma" and brackets:
            position = match.start() + value.index(",")
            tokens.append(Token("number", value[: value.index(",")]))
        elif kind in ("grouped", "comma"):
            tokens.append(Token("number", re.sub(r"[^\d.]", "", value)))
        elif kind == "scientific":
            mantissa, _, power = value.lower().partition("e")
            _scan(rf"{mantissa}*10^{{{power}}}", tokens)
        elif kind == "repeating":
            fixed, _, period = re.sub(r"[^\d.\\]", "", value).partition("\\")
            tokens.append(Token("number", _repeating(fixed, period)))
        elif kind == "endless":
            fixed = re.sub(r"\s?(?:\.+|\\l?dots)$", "", value)
            tokens.append(Token("number", _repeating(fixed, match["period"])))
        elif kind == "wrapped":
            end = _closing_brace(text, position)
            _add_wrapped(value, text[position:end], tokens)
            position = end + 1
        elif kind == "word":
            spaced = text[match.start() - 1 : match.start()] in ("", " ", "\n")
            _add_word(value, spaced, tokens)
        elif kind == "myriads":
            _scan("*10^{4}" if value == "\u4e07" else "*10^{8}", tokens)
        elif kind == "han":
            tokens.append(Token("text", value))
        elif kind in ("env", "set"):
            tokens.append(Token("command", re.sub(r"[\s{}]", "", value.replace("{", ":"))))
        elif kind == "number":
            tokens.append(Token("number", value))
        else:
            value = _ALIASES.get(value, value)
            if value not in _DROPPED and value != "~":
                tokens.append(Token("command" if value[0] == "\\" else "symbol", value))
            brackets += (value in _OPENING) - (value in _CLOSING)


def _kind(match: re.Match[str]) -> str:
    return "endless" if match["endless"] else str(match.lastgroup)


def _add_wrapped(macro: str, content: str, tokens: list[Token]) -> None:
    r"""Add what ``\text{}`` or ``\mathrm{}`` holds: a formula, a variable, or text."""
    word = content.strip()
    if _FORMULA.fullmatch(word):
        _scan(content, tokens)
    elif measure := _MEASURE.fullmatch(word):
        _scan(measure[1], tokens)
        tokens.append(Token("text", measure[2]))
    elif macro.startswith((r"\mathrm", r"\rm")) and word in UPRIGHT:
        tokens.append(Token("text", word))
    elif macro.startswith((r"\math", r"\b", r"\oper", r"\rm")) and (
        len(word) == 1 or word in FUNCTIONS
    ):
        _add_word(word, False, tokens)
    else:
        tokens.append(Token("text", word))


def _add_word(word: str, spaced: bool, tokens: list[Token]) -> None:
    if len(word) == 1:
        tokens.append(Token("letter", word))
    elif word in FUNCTIONS:
        tokens.append(Token("command", rf"\{word}"))
    elif word.lower() in _CONSTANTS:
        tokens.append(Token("command", _CONSTANTS[word.lower()]))
    elif (
        (word.lower() in _SHORT_WORDS and not word[1:].isupper())
        or is_unit(word)
        or (len(word) > 3 and spaced)
    ):
        tokens.append(Token("text", word))
    else:
        tokens.extend(Token("letter", letter) for letter in word)


def _repeating(decimal: str, period: str) -> str:
    """Return a decimal whose last digits go on as a period for ever, as a fraction."""
    whole, _, fixed = decimal.partition(".")
    if len(whole + fixed + period) > 100:
        raise Unreadable("too many digits")
    nines = int("9" * len(period) + "0" * len(fixed))
    return f"{int(whole + fixed + period) - int(whole + fixed or 0)}/{nines}"


def _closing_brace(text: str, start: int) -> int:
    depth = 1
    for i in range(start, len(text)):
        depth += (text[i] == "{") - (text[i] == "}")
        if not depth:
            return i
    return len(text)
