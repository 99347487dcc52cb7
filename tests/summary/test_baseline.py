"""A run against an earlier one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pytest_evalplug.run.results import ResultFile
from pytest_evalplug.summary.baseline import Allowed, check_baseline
from pytest_evalplug.summary.gates import GateResult
from pytest_evalplug.types import Detail


def result(
    right: Sequence[int], *, model: str = "m", dataset: str = "d", **about: Any
) -> ResultFile:
    details = [
        Detail(str(n), f"s{n}", "default", correct=bool(r), score={"accuracy": float(r)})
        for n, r in enumerate(right)
    ]
    known: dict[str, Any] = {
        "version": "v",
        "num_samples": len(right),
        "num_scored": len(right),
        "metrics": {"accuracy": 100 * sum(right) / len(right), "f1": 1.0},
        "details": details,
    }
    return ResultFile(
        model=model,
        dataset=dataset,
        benchmark=dataset,
        subset="default",
        mode="gen",
        **(known | about),
    )


@dataclass
class Saved:
    name: str
    results: Sequence[ResultFile]
    path: Path = Path("x")
    read: list[bool] = field(default_factory=list)

    def tables(self) -> list[tuple[str, str]]:
        return [(r.model, r.dataset) for r in self.results]

    def result(self, model: str, dataset: str, *, details: bool = True) -> ResultFile | None:
        self.read.append(details)
        return next(r for r in self.results if (r.model, r.dataset) == (model, dataset))

    def records(self, model: str, dataset: str) -> Mapping[str, Mapping[str, Any]]:
        raise AssertionError


def check(
    old: ResultFile, new: ResultFile, drop: float = 0.0, significance: float | None = None
) -> GateResult:
    allowed = Allowed(drop, significance)
    ((gate,), notes) = check_baseline(Saved("old", [old]), Saved("new", [new]), allowed)
    assert notes == []
    return gate


GOOD, WORSE, BAD = [1] * 100, [1] * 98 + [0] * 2, [1] * 80 + [0] * 20


@pytest.mark.parametrize(
    ("new", "drop", "outcome"),
    [(GOOD, 0, "passed"), (WORSE, 0, "failed"), (WORSE, 2, "passed"), (WORSE, 1.99, "failed")],
)
def test_a_drop_in_points(new: Sequence[int], drop: float, outcome: str) -> None:
    gate = check(result(GOOD), result(new), drop)
    assert gate.outcome == outcome


def test_what_it_says() -> None:
    gate = check(result(GOOD), result(WORSE), 1.0)
    assert gate == GateResult(
        "d>=baseline-1",
        "m",
        "failed",
        "accuracy is 98.00 (n = 100), 100.00 in old: -2.00",
        98.0,
        100,
    )
    assert check(result(GOOD), result(GOOD)).gate == "d>=baseline"


@pytest.mark.parametrize(
    ("old", "new", "outcome"),
    [(GOOD, BAD, "failed"), (GOOD, WORSE, "passed"), (BAD, GOOD, "passed")],
)
def test_only_a_significant_drop(old: Sequence[int], new: Sequence[int], outcome: str) -> None:
    gate = check(result(old), result(new), significance=0.05)
    assert gate.gate == "d>=baseline, p<0.05"
    assert gate.outcome == outcome
    assert "over 100 samples of both, McNemar p = " in gate.message


def test_without_details_there_is_no_test() -> None:
    gate = check(result(GOOD, details=None), result(GOOD), significance=0.05)
    assert gate.outcome == "failed"
    assert "can't be compared" in gate.message


def test_details_are_read_only_for_a_test() -> None:
    saved = Saved("old", [result(GOOD)])
    check_baseline(saved, Saved("new", [result(GOOD)]), Allowed())
    assert saved.read == [False]


def test_incomplete_results_fail() -> None:
    old = check(result(GOOD, partial=True), result(GOOD))
    assert (old.outcome, old.message.count("the baseline is incomplete: partial run")) == (
        *("failed", 1),
    )
    new = check(result(GOOD), result(GOOD, num_errors=2))
    assert (new.outcome, new.message.count("but incomplete: 2 errors")) == ("failed", 1)


def test_another_version_is_said() -> None:
    gate = check(result(GOOD), result(GOOD, version="w"))
    assert gate.outcome == "passed"
    assert gate.message.endswith("its prompts differ (version v, now w)")


def test_no_score_in_common_fails() -> None:
    assert check(result(GOOD), result(GOOD, metrics={})).message == (
        "there is no score that both runs have"
    )


def test_which_results_are_compared() -> None:
    old = Saved("old", [result(GOOD), result(GOOD, dataset="gone")])
    new = Saved("new", [result(BAD, model="n"), result(BAD, dataset="added")])
    gates, notes = check_baseline(old, new, Allowed())
    assert [(g.gate, g.model, g.outcome) for g in gates] == [("d>=baseline", "n", "failed")]
    assert notes == [
        "not compared, only in the baseline old: gone",
        "not compared, not in the baseline old: added",
    ]
    gates, _ = check_baseline(old, Saved("new", [result(BAD, dataset="added")]), Allowed())
    assert [(g.gate, g.outcome) for g in gates] == [("baseline", "failed")]
    assert "no dataset in common" in gates[0].message


def test_no_model_is_left_out_silently() -> None:
    two = Saved("old", [result(BAD), result(GOOD, model="other")])
    gates, notes = check_baseline(two, Saved("new", [result(BAD)]), Allowed())
    assert [g.outcome for g in gates] == ["passed"]
    assert notes == ["not compared, on d only in the baseline old: other"]
    gates, notes = check_baseline(
        two, Saved("new", [result(BAD), result(BAD, model="third")]), Allowed()
    )
    assert [(g.gate, g.model, g.outcome) for g in gates] == [
        ("d>=baseline", "m", "passed"),
        ("baseline", "third", "failed"),
    ]
    assert gates[1].message == "the baseline old has other models on d: m, other"
