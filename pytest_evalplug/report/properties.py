"""What each test case carries into JUnit XML and any other report: its properties."""

from __future__ import annotations

__all__ = ["add_properties", "shorten_texts"]

from functools import lru_cache
from typing import TYPE_CHECKING

import pytest

from pytest_evalplug.report.text import clean, shorten
from pytest_evalplug.stash import RUN_CONFIG
from pytest_evalplug.summary.replies import was_extracted

if TYPE_CHECKING:
    from pytest_evalplug.verdicts import Evaluation

LONGEST = 4000
"""Characters of a text in a report; the prediction file has all of it."""
KEPT = 100
"""Characters of it that stay once all have seen the report."""
_TEXTS = ("prediction", "pred", "reference")


def add_properties(item: pytest.Item, evaluation: Evaluation) -> None:
    """Attach model, prediction, pred, reference and scores to the item's reports."""
    properties = [
        _pair("model", clean(evaluation.model)),
        _pair("prediction", shorten(evaluation.record["prediction"], LONGEST)),
    ]
    if evaluation.detail is not None:
        properties += [
            _pair("pred", shorten(evaluation.pred, LONGEST)),
            _pair("reference", shorten(evaluation.reference, LONGEST)),
        ]
    for metric, value in evaluation.score.items():
        name = "score" if len(evaluation.score) == 1 else f"score:{metric}"
        properties.append(_pair(clean(name), str(value)))
    if evaluation.detail is not None and item.config.stash[RUN_CONFIG].dump_extract_rate:
        properties.append(_pair("extracted", str(was_extracted(evaluation.detail)).lower()))
    ours = {name for name, _ in properties}  # those of an attempt before, where tests are rerun
    others = [pair for pair in item.user_properties if pair[0] not in ours]
    item.user_properties[:] = [*others, *properties]


def shorten_texts(report: pytest.TestReport) -> None:
    """Let go of long texts: pytest keeps all reports, so memory would grow with each."""
    report.user_properties = [_shortened(pair) for pair in report.user_properties]


def _shortened(pair: tuple[str, object]) -> tuple[str, object]:
    name, value = pair
    if not isinstance(value, str):
        return pair
    return _pair(name, value[:KEPT] if name in _TEXTS else value)


def _pair(name: str, value: str) -> tuple[str, str]:
    """Return the property; reports live until the end, and most share their short values."""
    return _shared(name, value) if len(value) <= KEPT else (name, value)


@lru_cache(maxsize=1024)
def _shared(name: str, value: str) -> tuple[str, str]:
    return name, value
