"""What of a sample's reports stays in memory: pytest keeps them all until its end."""

from __future__ import annotations

__all__ = ["KEPT", "KeptReports"]

from functools import lru_cache

import pytest

KEPT = 100
"""Characters of a text that stay."""
_TEXTS = ("prediction", "pred", "reference")
_EQUAL = ("location", "keywords")
"""What the three reports of an item have each for itself, and alike."""


class KeptReports:
    """Makes reports small once every plugin has seen them, or memory would grow with each."""

    def __init__(self) -> None:
        self._first: dict[str, pytest.TestReport] = {}
        """The first report of each item that is under way."""

    def keep(self, report: pytest.TestReport) -> None:
        """Cut a report's long texts, and let it share what it has in common with others."""
        first = self._first.setdefault(report.nodeid, report)
        if first is not report:
            for name in _EQUAL:
                if getattr(report, name) == getattr(first, name):
                    setattr(report, name, getattr(first, name))
        if report.user_properties:
            report.user_properties = _cut(report.user_properties)
        if report.when == "teardown":
            self._first.pop(report.nodeid, None)


def _cut(properties: list[tuple[str, object]]) -> list[tuple[str, object]]:
    pairs = tuple(map(_cut_pair, properties))
    if all(type(value) is str for _, value in pairs):
        return _same_list(pairs)
    return list(pairs)  # somebody's own: 1 and True are equal, and must not become each other


def _cut_pair(pair: tuple[str, object]) -> tuple[str, object]:
    name, value = pair
    if not isinstance(value, str):
        return pair
    value = value[:KEPT] if name in _TEXTS else value
    return _same_pair(name, value) if len(value) <= KEPT else (name, value)


@lru_cache(maxsize=64)
def _same_list(pairs: tuple[tuple[str, object], ...]) -> list[tuple[str, object]]:
    return list(pairs)


@lru_cache(maxsize=1024)
def _same_pair(name: str, value: str) -> tuple[str, str]:
    """Return the property; most are of a few values."""
    return name, value
