"""Units of measurement and money, by the names that answers use."""

from __future__ import annotations

__all__ = ["DEGREE", "PERCENT", "UPRIGHT", "find_unit", "is_unit"]

import re

PERCENT, DEGREE = "percent", "degree"

_NAMES = {
    "mm": "millimeter millimetre",
    "cm": "centimeter centimetre",
    "m": "meter metre",
    "km": "kilometer kilometre",
    "in": "inch inche",
    "ft": "foot feet",
    "yd": "yard",
    "mi": "mile",
    "mg": "milligram",
    "g": "gram",
    "kg": "kilogram kilo",
    "lb": "pound",
    "oz": "ounce",
    "ml": "milliliter millilitre",
    "l": "liter litre",
    "s": "sec second",
    "min": "minute",
    "h": "hr hour",
    "day": "day",
    "week": "week",
    "month": "month",
    "year": "yr year",
    "mph": "mph",
    "dollar": "usd $ buck",
    "euro": "eur €",
    "sterling": "gbp £",
    "cent": "cent ¢",
    "rupee": "inr ₹",
    "yuan": "rmb cny 元 ¥",
    DEGREE: "deg °",
    PERCENT: "% pct percentage",
    "radian": "rad",
    "square": "sq squared",
    "cubic": "cu cubed",
    "unit": "unit",
}
_UNITS = {name: unit for unit, names in _NAMES.items() for name in [unit, *names.split()]}
_VARIABLES = frozenset(name for name in _UNITS if len(name) == 1 and name.isalpha()) | {"in"}
UPRIGHT = _VARIABLES - {"in"}
"""Letters that are units if they stand upright."""
_WORD = re.compile(r"[^\W\d_]+|[%$€£¢₹¥°]|\^\s*\{?\s*[23]")


def is_unit(word: str) -> bool:
    r"""Tell whether a word outside of ``\text{}`` is a unit; single letters are variables."""
    return word not in _VARIABLES and _canonical(word) is not None


def find_unit(text: str) -> tuple[str, ...]:
    """Return the first unit of a text with its dimension, ``()`` if there is none known.

    >>> find_unit("square inches per day") == find_unit("in ^ 2")
    True
    """
    power, unit = "", ""
    for word in _WORD.findall(text):
        name = {"^": "square"}.get(word[0], _canonical(word) or "")
        if word[0] == "^" and word.endswith("3"):
            name = "cubic"
        if name in ("square", "cubic"):
            power = power or name
        elif not unit:
            unit = name
        elif word[0] != "^":
            break
    return tuple(filter(None, (unit, power)))


def _canonical(word: str) -> str | None:
    lower = word.lower()
    return _UNITS.get(lower) or (_UNITS.get(lower[:-1]) if lower.endswith("s") else None)
