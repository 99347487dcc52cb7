from __future__ import annotations

from typing import Any, Literal

import pytest

from pytest_evalplug.report.kept import KEPT, KeptReports


def report_with(
    *properties: tuple[str, Any], when: Literal["setup", "call", "teardown"] = "call"
) -> pytest.TestReport:
    node_id = "".join(["a", "::b"])  # a text of its own, as what xdist sends has
    keywords: dict[str, Literal[1]] = {node_id: 1, "slow": 1}
    return pytest.TestReport(
        node_id, ("a", 1, "b"), keywords, "passed", None, when, user_properties=list(properties)
    )


def test_all_texts_are_cut_and_reports_share_them() -> None:
    long = ("prediction", "pred", "reference", "tokens")
    pairs = [*((name, name * 1000) for name in long), ("score", "1.0"), ("count", [7])]
    call, teardown = report_with(*pairs), report_with(*pairs, when="teardown")
    kept = KeptReports()
    kept.keep(call)
    kept.keep(teardown)
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


def test_what_is_equal_is_there_once() -> None:
    kept = KeptReports()
    reports = [
        report_with(when="setup"),
        *(report_with(("pred", "4"), when=when) for when in ("call", "teardown")),
    ]
    for report in reports:
        kept.keep(report)
    setup, *others = reports
    for report in others:
        assert report.location is setup.location
        assert report.keywords is setup.keywords
        assert report.user_properties is others[0].user_properties
    assert not kept._before  # the item is over


def test_what_differs_stays() -> None:
    kept = KeptReports()
    call, teardown = report_with(), report_with(when="teardown")
    teardown.keywords = {"other": 1}
    kept.keep(call)
    kept.keep(teardown)
    assert call.keywords == {"a::b": 1, "slow": 1}
    assert teardown.keywords == {"other": 1}


def test_values_of_other_types_stay_what_they_are() -> None:
    kept = KeptReports()
    reports = [report_with(("flag", value)) for value in (1, True, 1.0)]
    for report in reports:
        kept.keep(report)
    assert [type(report.user_properties[0][1]) for report in reports] == [int, bool, float]


def test_long_texts_are_not_remembered() -> None:
    from pytest_evalplug.report.kept import _cut_pair

    assert _cut_pair(("tokens", "x" * KEPT)) is _cut_pair(("tokens", "x" * KEPT))
    assert _cut_pair(("tokens", "x" * (KEPT + 1))) is not _cut_pair(("tokens", "x" * (KEPT + 1)))


def test_what_is_added_to_one_samples_report_is_not_in_anothers() -> None:
    kept = KeptReports()
    first, second = report_with(("pred", "4"), when="teardown"), report_with(("pred", "4"))
    kept.keep(first)
    kept.keep(second)
    first.user_properties.append(("where", "a"))
    assert second.user_properties == [("pred", "4")]
