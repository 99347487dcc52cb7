"""What each test case carries into JUnit XML and any other report: its properties."""

from __future__ import annotations

__all__ = ["add_properties", "shorten_reply"]

from functools import lru_cache
from typing import TYPE_CHECKING

import pytest

from pytest_evalplug.report.text import clean, shorten
from pytest_evalplug.stash import RUN_CONFIG
from pytest_evalplug.summary.replies import was_extracted

if TYPE_CHECKING:
    from pytest_evalplug.verdicts import Evaluation

LONGEST = 4000
"""Characters of a prediction in a report; the prediction file has all of it."""
KEPT = 100
"""Characters of it that stay once all have seen the report."""


def add_properties(item: pytest.Item, evaluation: Evaluation) -> None:
    """Attach model, prediction, pred, reference and scores to the item's reports."""
    properties = [
        _pair("model", clean(evaluation.model)),
        ("prediction", shorten(evaluation.record["prediction"], LONGEST)),
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
    item.user_properties.extend(properties)


def shorten_reply(report: pytest.TestReport) -> None:
    """Let go of a long reply: pytest keeps all reports, so memory would grow with each."""
    report.user_properties = [
        (name, str(value)[:KEPT] if name == "prediction" else value)
        for name, value in report.user_properties
    ]


@lru_cache(maxsize=1024)
def _pair(name: str, value: str) -> tuple[str, str]:
    """Return the property; reports live until the end, and most share their short values."""
    return name, value
