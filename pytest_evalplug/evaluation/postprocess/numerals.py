"""Numbers as people and models write them, in a form in which equal ones are equal texts."""

from __future__ import annotations

__all__ = ["Numeral", "numerals", "spell_out"]

import re
import unicodedata
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

_SUPERSCRIPT = re.compile("[\u00b9\u00b2\u00b3\u2070\u2074-\u2079\u207a\u207b]+")
_VULGAR = re.compile("[\u00bc-\u00be\u2150-\u215e]")
_GROUPED = re.compile(r"(?<!\d)\d{1,3}(?:(?:[\u00a0\u2007\u2009\u202f'\u2019]|\\,)\d{3})+(?!\d)")
_TEX_FRACTION = re.compile(
    r"(-?)\\[cdt]?frac ?(?:\{ ?(-?[\d.,]{1,30}) ?\} ?\{ ?(\d{1,30}) ?\}|(\d)(\d))"
)
_NEGATIVE = re.compile(r"\b(?:negative|minus) (?=\$?\d)|负(?=\d)", re.IGNORECASE)
_POWER = re.compile(r"(?<=\d)\*\*(?=-?\d)")
_SCRIPT = re.compile(r"([\^_]) ?[{(] ?")
_TEX_COMMA = re.compile(r"(?<=\d)(?:\{,\}|,\\!)(?=\d)")
_MINUS = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2212\ufe58\ufe63\uff0d", "-"))

_THOUSANDS = re.compile(r"(?:\d{1,3}(?:,\d{3})+|\d{1,2}(?:,\d{2})+,\d{3})(?:\.\d+)?")
_DOTTED = re.compile(r"\d{1,3}(?:\.\d{3}){2,}(?:,\d+)?")
_PLAIN = re.compile(r"\d+(?:\.\d+)?|\.\d+")
_MAX_ZEROS = 400
"""A number with more zeros than this at its end is written with an exponent."""

_LETTER = "A-Za-z\u00c0-\u024f\u0370-\u052f"
_NUMERAL = re.compile(
    rf"""
    (?P<minus>(?<![{_LETTER}0-9_^.)\]}}%]) (?<!\d[ ]) -(?:[$€£¥₹][ ]?)?(?=[\d.]))?
    (?<![{_LETTER}0-9^]) (?<![{_LETTER}0-9)\]}}]_) (?<![A-Za-z^]-)
    (?P<digits>\d+(?:[.,]\d+)*|(?<![\d.])\.\d+)
    (?:
      [eE](?P<exponent>[+-]?\d{{1,9}})(?!\w)
    | [ ]?(?:×|x|\*|\\times|\\cdot|·)[ ]?10\^(?P<power>[+-]?\d{{1,9}})
    | \^(?P<raised>\d{{1,2}})(?!\d)
    | (?:[ ](?P<upper>\d{{1,30}}))?[ ]?[/\u2044][ ]?(?P<lower>\d{{1,30}})(?![\d/])
    )?
    (?P<ordinal>(?:st|nd|rd|th)\b)?
    """,
    re.VERBOSE,
)
"""A number that is no part of a word, a unit or an exponent."""


class Numeral(NamedTuple):
    """One number: its canonical form, and whether it only counts something off ("3rd")."""

    value: str
    ordinal: bool


def spell_out(text: Any) -> str:
    """Return ``text`` with powers, fractions and minus signs in ASCII.

    This comes before other folding, which would make ``10\u00b3`` 103. Narrow and no-break
    spaces and apostrophes between groups of three digits go.
    """
    raw = "" if text is None else str(text)
    # most replies are plain, and a look for what a rule needs is much cheaper than the rule
    plain = raw.isascii()
    if not plain or "'" in raw or "\\," in raw:
        raw = _GROUPED.sub(lambda m: re.sub(r"\D", "", m[0]), raw)
    if not plain:
        raw = _SUPERSCRIPT.sub(lambda m: "^" + unicodedata.normalize("NFKC", m[0]), raw)
        raw = _VULGAR.sub(lambda m: " " + unicodedata.normalize("NFKC", m[0]), raw)
        raw = raw.translate(_MINUS)
    lower = raw.lower()
    if not plain or "negative " in lower or "minus " in lower:
        raw = _NEGATIVE.sub("-", raw)
    if "," in raw and ("{,}" in raw or ",\\!" in raw):
        raw = _TEX_COMMA.sub(",", raw)
    if "frac" in raw:
        raw = _TEX_FRACTION.sub(r" \1\2\4/\3\5", raw)
    if "**" in raw:
        raw = _POWER.sub("^", raw)
    return _SCRIPT.sub(r"\1", raw) if "^" in raw or "_" in raw else raw


def numerals(text: str) -> Iterator[Numeral]:
    """Yield the numbers of ``text``, which :func:`spell_out` and folding have been through."""
    for match in _NUMERAL.finditer(text):
        *before, last = _parts(match["digits"]) or [""]
        if not last:
            continue
        for part in before:
            yield Numeral(_decimal(part), False)
        sign = "-" if match["minus"] else ""
        value = _with_suffix(sign + last, match)
        yield Numeral(value, match["ordinal"] is not None)


def _parts(digits: str) -> list[str]:
    """Return the numbers, as plain digits, that a run of digits, commas and points is."""
    if _THOUSANDS.fullmatch(digits):
        return [digits.replace(",", "")]
    if _DOTTED.fullmatch(digits):
        return [digits.replace(".", "").replace(",", ".")]
    parts = digits.split(",")
    return parts if all(_PLAIN.fullmatch(part) for part in parts) else []


def _with_suffix(number: str, match: re.Match[str]) -> str:
    if match["lower"] and int(match["lower"]) and len(number) <= 30:
        return _fraction(number, match["upper"], match["lower"])
    if match["raised"] and len(number) <= 30:
        return _canonical_fraction(Fraction(number) ** int(match["raised"]))
    return _decimal(number, int(match["exponent"] or match["power"] or 0))


def _fraction(number: str, upper: str | None, lower: str) -> str:
    if upper is None:
        return _canonical_fraction(Fraction(number) / int(lower))
    sign = -1 if number.startswith("-") else 1
    return _canonical_fraction(Fraction(number) + sign * Fraction(int(upper), int(lower)))


def _canonical_fraction(value: Fraction) -> str:
    """Return a fraction as a decimal if that ends, else as ``numerator/denominator``."""
    rest, places = value.denominator, 0
    for prime in (2, 5):
        count = 0
        while rest % prime == 0:
            rest, count = rest // prime, count + 1
        places = max(places, count)
    if rest != 1:
        return f"{value.numerator}/{value.denominator}"
    return _decimal(str(value.numerator * 10**places // value.denominator), -places)


def _decimal(number: str, exponent: int = 0) -> str:
    """Return the canonical form of ``number`` times ten to the ``exponent``.

    Works on the digits, so that neither size nor precision has a limit.
    """
    whole, _, places = number.lstrip("-").partition(".")
    digits = (whole + places).lstrip("0")
    exponent -= len(places)
    exponent += len(digits) - len(digits.rstrip("0"))
    digits = digits.rstrip("0")
    if not digits:
        return "0"
    sign = "-" if number.startswith("-") else ""
    if exponent > _MAX_ZEROS or exponent + len(digits) < -_MAX_ZEROS:
        return f"{sign}{digits}e{exponent}"
    if exponent >= 0:
        return sign + digits + "0" * exponent
    digits = digits.rjust(1 - exponent, "0")
    return f"{sign}{digits[:exponent]}.{digits[exponent:]}"
