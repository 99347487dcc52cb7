"""Units of measurement and money, by the names that answers use."""

from __future__ import annotations

__all__ = ["DEGREE", "PERCENT", "UPRIGHT", "find_unit", "is_unit"]

import re

PERCENT, DEGREE = "percent", "degree"

_NAMES = {
    "mm": "millimeter millimetre 毫米",
    "cm": "centimeter centimetre 厘米",
    "m": "meter metre 米",
    "km": "kilometer kilometre 千米 公里",
    "in": "inch inche",
    "ft": "foot feet",
    "yd": "yard",
    "mi": "mile",
    "mg": "milligram",
    "g": "gram 克",
    "kg": "kilogram kilo 千克 公斤",
    "lb": "pound",
    "oz": "ounce",
    "ml": "milliliter millilitre 毫升",
    "l": "liter litre 升",
    "s": "sec second 秒",
    "min": "minute 分钟",
    "h": "hr hour 小时",
    "day": "day 天",
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
    DEGREE: "deg ° 度",
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
    for word in _WORD.findall(text.replace("平方", "square ").replace("立方", "cubic ")):
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
