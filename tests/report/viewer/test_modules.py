"""The page's modules that decide something, called one by one in a browser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Call = Callable[..., Any]

LOCATED = [
    ("3", "It takes 3.0 bolts.\nA: 3", "A: [3]"),
    ("18", "118 and 18.5 and 1,18 and 18.", "and [18]."),
    ("70000", "She made $70,000 in 70 days.", "$[70,000] in"),
    ("70000.0", "70 000 or 70,000", "or [70,000]"),
    ("-5", "so it is −5 degrees", "is [−5] degrees"),
    ("1,234", "or 1234", "or [1234]"),
    ("$12", "it costs 12 dollars", "costs [12] dollars"),
    ("50%", "that is 50.0 percent", "is [50.0] percent"),
    ("A", "An Answer: (A) or B", "([A]) or"),
    ("paris", "It is Paris.", "is [Paris]."),
    ("new york", "in New\n  York City", "in [New\n  York] City"),
    (["x = 1"], "so x = 1", "so [x = 1]"),
    (7, "7 of 17", "[7] of"),
    ("\\frac{1}{2}", "is \\frac{1}{2}.", "is [\\frac{1}{2}]."),
    ("عربي", "الجواب: عربي", ": [عربي]"),
]


@pytest.mark.parametrize(("pred", "reply", "marked"), LOCATED)
def test_locate(call: Call, pred: Any, reply: str, marked: str) -> None:
    found = call("locate.js", "locate", pred, reply)
    assert found is not None
    start, end = found
    assert marked in f"{reply[:start]}[{reply[start:end]}]{reply[end:]}"


@pytest.mark.parametrize(
    ("pred", "reply"),
    [
        ("4", "It is 42 or 4.5 or 14."),
        ("cat", "concatenate"),
        ("", "anything"),
        (None, "None"),
        (["a", "b"], "a b"),
        ({"a": 1}, "a 1"),
        ("x", None),
        ("C", "ABCD"),
    ],
)
def test_what_cannot_be_located(call: Call, pred: Any, reply: Any) -> None:
    assert call("locate.js", "locate", pred, reply) is None


def test_bins_of_a_histogram_hold_every_value(call: Call) -> None:
    values = [*range(100), 10_000, None]
    bins = call("stats.js", "histogram", values, "rw" * 51)
    assert sum(sum(part["counts"].values()) for part in bins) == 101
    assert bins[0]["from"] == 0
    assert bins[-1]["to"] == 10_000
    assert bins[0]["counts"] == {"r": 3, "w": 2}


def test_a_histogram_of_nothing(call: Call) -> None:
    assert len(call("stats.js", "histogram", [], "")) == 1


def test_expected_calibration_error(call: Call) -> None:
    # 0.95 sure and right half the time; 0.25 sure and always wrong; errors don't count
    found = call("stats.js", "calibration", [0.95, 0.95, 0.25, 0.25, 1.0, None], "rwwwer")
    assert found["total"] == 4
    assert found["ece"] == pytest.approx((2 * 0.45 + 2 * 0.25) / 4)
    assert found["bins"][9] == {"from": 0.9, "to": 1, "n": 2, "right": 1, "sum": 1.9}


def test_sure_of_all_and_right_is_calibrated(call: Call) -> None:
    assert call("stats.js", "calibration", [1.0, 1.0], "rr")["ece"] == 0


@pytest.mark.parametrize("name", ["a/b", "100 %", "ünïcode", "a?b=c", "#", "~|"])
def test_an_address_comes_back(call: Call, name: str) -> None:
    place = {"run": "r", "benchmark": name, "dataset": name, "id": name}
    address = call("route.js", "address", {**place, "query": [["q", name], ["m", ""]]})
    read = "(hash) => ({ ...parse(hash), query: [...parse(hash).query] })"
    found = call("route.js", read, address)
    assert found == {**place, "query": [["q", name]]}
