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
        self._before: dict[str, pytest.TestReport] = {}
        """The latest report of each item that is under way."""

    def keep(self, report: pytest.TestReport) -> None:
        """Cut a report's long texts, and let it share what its item's others have alike."""
        if report.user_properties:
            report.user_properties = list(tuple(map(_cut_pair, report.user_properties)))  # no spare
        before = self._before.get(report.nodeid)
        for name in _EQUAL if before else ():
            if getattr(report, name) == getattr(before, name):
                setattr(report, name, getattr(before, name))
        if before and _same(report.user_properties, before.user_properties):
            report.user_properties = before.user_properties
        self._before[report.nodeid] = report
        if report.when == "teardown":
            del self._before[report.nodeid]


def _same(one: list[tuple[str, object]], other: list[tuple[str, object]]) -> bool:
    """Tell whether two lists are the same; of others' values 1 and True are equal, but differ."""
    return one == other and all(type(value) is str for _, value in (*one, *other))


def _cut_pair(pair: tuple[str, object]) -> tuple[str, object]:
    name, value = pair
    if not isinstance(value, str):
        return pair
    value = value[:KEPT] if name in _TEXTS else value
    return _same_pair(name, value) if len(value) <= KEPT else (name, value)


@lru_cache(maxsize=1024)
def _same_pair(name: str, value: str) -> tuple[str, str]:
    """Return the property; most are of a few values."""
    return name, value
