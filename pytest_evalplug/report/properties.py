"""What each test case carries into JUnit XML and any other report: its properties."""

from __future__ import annotations

__all__ = ["add_properties"]

from typing import TYPE_CHECKING

import pytest

from pytest_evalplug.report.text import clean, shorten
from pytest_evalplug.stash import RUN_CONFIG
from pytest_evalplug.summary.replies import was_extracted

if TYPE_CHECKING:
    from pytest_evalplug.verdicts import Evaluation

LONGEST = 4000
"""Characters of a text in a report; the prediction file has all of it."""


def add_properties(item: pytest.Item, evaluation: Evaluation) -> None:
    """Attach model, prediction, pred, reference and scores to the item's reports."""
    properties = [
        ("model", clean(evaluation.model)),
        ("prediction", shorten(evaluation.record["prediction"], LONGEST)),
    ]
    if evaluation.detail is not None:
        properties += [
            ("pred", shorten(evaluation.pred, LONGEST)),
            ("reference", shorten(evaluation.reference, LONGEST)),
        ]
    for metric, value in evaluation.score.items():
        name = "score" if len(evaluation.score) == 1 else f"score:{metric}"
        properties.append((clean(name), str(value)))
    if evaluation.detail is not None and item.config.stash[RUN_CONFIG].dump_extract_rate:
        properties.append(("extracted", str(was_extracted(evaluation.detail)).lower()))
    ours = {name for name, _ in properties}  # those of an attempt before, where tests are rerun
    others = [pair for pair in item.user_properties if pair[0] not in ours]
    item.user_properties[:] = [*others, *properties]
