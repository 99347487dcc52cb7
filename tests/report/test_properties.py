from __future__ import annotations

from typing import Any

import pytest

from pytest_evalplug.report.properties import KEPT, _pair, shorten_texts


def report_with(*properties: tuple[str, Any]) -> pytest.TestReport:
    return pytest.TestReport(
        "a::b", ("a", 1, "b"), {}, "passed", None, "call", user_properties=list(properties)
    )


def test_all_texts_are_cut_and_reports_share_them() -> None:
    long = ("prediction", "pred", "reference", "tokens")
    pairs = [*((name, name * 1000) for name in long), ("score", "1.0"), ("count", [7])]
    call, teardown = report_with(*pairs), report_with(*pairs)
    shorten_texts(call)
    shorten_texts(teardown)
    lengths = {name: len(str(value)) for name, value in call.user_properties}
    assert lengths == {
        "prediction": KEPT,
        "pred": KEPT,
        "reference": KEPT,
        "tokens": 6000,  # another's
        "score": 3,
        "count": 3,
    }
    ids = [
        [id(pair) for pair in r.user_properties if pair[0] != "tokens"] for r in (call, teardown)
    ]
    assert ids[0] == ids[1]


def test_only_short_values_are_remembered() -> None:
    assert _pair("pred", "x" * KEPT) is _pair("pred", "x" * KEPT)
    assert _pair("pred", "x" * (KEPT + 1)) is not _pair("pred", "x" * (KEPT + 1))
