"""The one place where Unicode variants are folded, and general clean-up."""

from __future__ import annotations

__all__ = ["fold", "fold_maths", "general", "general_cn", "nfkc"]

import re
import unicodedata
from typing import Any

from pytest_evalplug.evaluation.registry import postprocessors

_BREAKS = "\n\r\x0b\x0c\x85\u2028\u2029"
_CACHE_SIZE = 4096
_MAX_MARKS = 30
_ARTICLES = re.compile(r"\b(?:a|an|the)\b", re.IGNORECASE)
_HAN = "\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff"
_SPACE_IN_HAN = re.compile(rf"(?<=[{_HAN}]) +| +(?=[{_HAN}])")
_SCRIPTS = {
    "^": re.compile("[\u00b2\u00b3\u00b9\u2070\u2071\u2074-\u207f]+"),
    "_": re.compile("[\u2080-\u208e\u2090-\u209c]+"),
}
_VULGAR = re.compile("[\u00bc-\u00be\u2150-\u215e\u2189]")
_LEADING = re.compile(r"^[.\- ]+(?![\d.])")


class _FoldTable(dict[int, str]):
    """Folds one character at a time: NFKC of a whole text is quadratic on hostile marks."""

    def __missing__(self, code: int) -> str:
        folded = _fold_char(chr(code))
        if len(self) < _CACHE_SIZE:
            self[code] = folded
        return folded


def _fold_char(char: str) -> str:
    if char in _BREAKS:
        return "\n"
    if char == "\t":
        return " "
    if unicodedata.category(char) in ("Cc", "Cf", "Cs") or "\ufe00" <= char <= "\ufe0f":
        return ""
    if char.isdecimal():
        return str(unicodedata.decimal(char))
    return unicodedata.normalize("NFKC", char)


_TABLE = _FoldTable()


def fold(value: Any) -> str:
    r"""Return ``value`` as text in its plainest form.

    Full-width, circled and mathematical letters become ordinary ones (NFKC, character by
    character), digits of every script ASCII digits, line ends of every kind ``\n``, and what
    can't be seen (controls, zero-width and direction marks, lone surrogates) goes. ``None`` is
    empty text. Takes linear time.
    """
    text = "" if value is None else str(value)
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return text.replace("\r\n", "\n").translate(_TABLE)


def fold_maths(value: Any) -> str:
    r"""Return what :func:`fold` does, but keep what is raised, lowered or a fraction apart.

    >>> fold_maths("x\u00b2 + \u00bd - log\u2082\uff18")
    'x^{2} + \\frac{1}{2} - log_{2}8'
    """
    text = "" if value is None else str(value)
    for sign, script in _SCRIPTS.items():
        text = script.sub(rf"{sign}{{\g<0>}}", text)
    return fold(_VULGAR.sub(_tex_fraction, text)).replace("\u2212", "-")


def _tex_fraction(sign: re.Match[str]) -> str:
    upper, _, lower = unicodedata.normalize("NFKC", sign[0]).partition("\u2044")
    return rf"\frac{{{upper}}}{{{lower}}}"


def nfkc(text: str) -> str:
    """Return ``text`` in NFKC, in linear time.

    Of a run of combining marks the first 30 are kept, as in Unicode's stream-safe format
    (UAX #15, section 13): sorting longer runs would take quadratic time.
    """
    kept, marks = [], 0
    for char in text:
        marks = marks + 1 if unicodedata.combining(char) else 0
        if marks <= _MAX_MARKS:
            kept.append(char)
    return unicodedata.normalize("NFKC", "".join(kept))


@postprocessors.register("general")
def general(text: Any) -> str:
    r"""Return a short answer without what rarely matters: articles, punctuation, further lines.

    Only the first line that has any text counts; the case stays.

    >>> general("The Eiffel Tower.\nIt is in Paris.")
    'Eiffel Tower'
    """
    line = next((line for line in fold(text).split("\n") if line.strip()), "")
    bare = "".join(c for c in line if c in ".-" or unicodedata.category(c)[0] != "P")
    words = _ARTICLES.sub(" ", bare).split()
    return _LEADING.sub("", " ".join(words)).rstrip(".- ")


@postprocessors.register("general_cn")
def general_cn(text: Any) -> str:
    """Return a short Chinese answer as :func:`general` does, without spaces beside Chinese.

    Chinese sets none between words, so those that a reply has say nothing; OpenCompass's rule of
    this name puts one between any two words instead (``opencompass-general_cn``).

    >>> general_cn("\u201c\u5317 \u4eac\u201d\u3002")
    '北京'
    """
    return _SPACE_IN_HAN.sub("", general(text))
