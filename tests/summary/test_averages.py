from __future__ import annotations

import math
from typing import Any

import pytest

from pytest_evalplug.run.results import ResultFile
from pytest_evalplug.summary.averages import missing_subsets
from pytest_evalplug.summary.rows import Cell, DatasetRef, Row
from pytest_evalplug.summary.scores import read_scores

from .conftest import result

LAW = DatasetRef("mmlu", "law", ("law", "virology"))
VIROLOGY = DatasetRef("mmlu", "virology", LAW.subsets)


def results(law: dict[str, Any], virology: dict[str, Any]) -> dict[tuple[str, str], ResultFile]:
    pairs = ((LAW, law), (VIROLOGY, virology))
    return {("a", dataset.name): result(dataset, "a", **more) for dataset, more in pairs}


def average_rows(models: list[str], found: dict[tuple[str, str], ResultFile]) -> list[Row]:
    return read_scores(models, [LAW, VIROLOGY], found).rows("mmlu")


def test_naive_and_weighted() -> None:
    # the worked example of the documentation that we implement: 75 and 80
    found = results({"accuracy": 60.0, "num_scored": 100}, {"accuracy": 90.0, "num_scored": 200})
    naive, weighted = average_rows(["a"], found)
    same = ("mmlu", "1d7fe4")
    assert naive == Row(*same, "naive_average", "gen", (Cell(75.0, 300),), 100, "accuracy")
    assert weighted == Row(*same, "weighted_average", "gen", (Cell(80.0, 300),), 100)


def test_standard_errors_of_independent_subsets_add_in_squares() -> None:
    found = results(
        {"accuracy": 60.0, "num_scored": 100, "stderr": {"accuracy": 3.0}},
        {"accuracy": 90.0, "num_scored": 300, "stderr": {"accuracy": 4.0}},
    )
    naive, weighted = (row.cells[0] for row in average_rows(["a"], found))
    assert naive is not None
    assert naive.stderr == pytest.approx(5 / 2)
    assert weighted is not None
    assert weighted.stderr == pytest.approx(math.sqrt(300**2 + 1200**2) / 400)


def test_a_standard_error_is_given_only_if_every_subset_has_one() -> None:
    found = results({"accuracy": 60.0, "stderr": {"accuracy": 3.0}}, {"accuracy": 90.0})
    assert [cell.stderr for row in average_rows(["a"], found) for cell in row.cells if cell] == [
        *(None, None)
    ]


def test_other_shared_metrics_have_averages_by_their_name() -> None:
    found = results(
        {"metrics": {"f1": 2.0, "accuracy": 60.0, "only_here": 1.0}},
        {"metrics": {"accuracy": 90.0, "f1": 4.0}},
    )
    values = {row.metric: row.cells[0] and row.cells[0].value for row in average_rows(["a"], found)}
    assert values == {
        "naive_average": 75.0,
        "weighted_average": 75.0,
        "f1_naive_average": 3.0,
        "f1_weighted_average": 3.0,
    }


def test_the_extraction_rate_is_never_the_benchmarks_score() -> None:
    rate = {"extract_rate": 50.0}
    found = results({"metrics": {"f1": 1.0, **rate}}, {"metrics": {"bleu": 2.0, **rate}})
    assert [row.metric for row in average_rows(["a"], found)] == [
        "extract_rate_naive_average",
        "extract_rate_weighted_average",
    ]
    found = results({"metrics": {"f1": 1.0, **rate}}, {"metrics": rate})
    assert missing_subsets(LAW, "a", found) == ["virology"]


def test_an_average_of_pass_at_k_weighs_by_its_samples() -> None:
    found = results(
        {"metrics": {"pass@4": 60.0}, "metric_samples": {"pass@4": 1}},
        {"metrics": {"pass@4": 90.0}, "metric_samples": {"pass@4": 2}},
    )
    naive, weighted = (row.cells[0] for row in average_rows(["a"], found))
    assert (naive, weighted) == (Cell(75.0, 3), Cell(80.0, 3))


@pytest.mark.parametrize("empty", [False, True])
def test_without_a_subset_there_is_no_average(empty: bool) -> None:
    found = results({"accuracy": 60.0}, {"num_scored": 0})
    if not empty:
        del found["a", "mmlu-virology"]
    assert missing_subsets(LAW, "a", found) == ["virology"]
    assert average_rows(["a"], found) == [
        Row("mmlu", "-", "naive_average", "-", (None,)),
        Row("mmlu", "-", "weighted_average", "-", (None,)),
    ]


def test_a_model_without_a_subset_has_a_gap_beside_one_that_has_all() -> None:
    found = results({"accuracy": 60.0}, {"accuracy": 90.0})
    found["b", "mmlu-law"] = result(LAW, "b", 99.0)
    assert [row.cells for row in average_rows(["a", "b"], found)] == [
        *((Cell(75.0, 20), None), (Cell(75.0, 20), None))
    ]


def test_subsets_of_different_versions_have_a_version_of_their_own() -> None:
    versions = [
        average_rows(["a"], results({"accuracy": 1.0, "version": v}, {"accuracy": 1.0}))[0].version
        for v in ("1d7fe4", "other", "third", "other")
    ]
    assert versions[0] == "1d7fe4"
    assert len(set(versions)) == 3
    assert versions[1] == versions[3]
    assert {len(version) for version in versions} == {6}


def test_subsets_of_different_modes_are_mixed() -> None:
    found = results({"accuracy": 1.0, "mode": "ppl"}, {"accuracy": 1.0})
    assert [row.mode for row in average_rows(["a"], found)] == ["mixed", "mixed"]


def test_an_average_is_as_incomplete_as_its_subsets() -> None:
    found = results({"accuracy": 1.0, "num_errors": 2}, {"accuracy": 1.0, "partial": True})
    for row in average_rows(["a"], found):
        assert row.cells[0] is not None
        assert row.cells[0].incomplete == "mmlu-law: 2 errors; 1 more"


def test_an_averages_interval_is_made_of_the_subsets_own() -> None:
    found = results(
        {"accuracy": 60.0, "num_scored": 100, "intervals": {"accuracy": (54.0, 63.0)}},
        {"accuracy": 90.0, "num_scored": 300, "intervals": {"accuracy": (82.0, 94.0)}},
    )
    naive, weighted = (row.cells[0] for row in average_rows(["a"], found))
    assert naive is not None
    assert naive.interval == pytest.approx((75 - 5, 75 + 2.5))
    assert weighted is not None
    below, above = math.hypot(6, 3 * 8) / 4, math.hypot(3, 3 * 4) / 4
    assert weighted.interval == pytest.approx((82.5 - below, 82.5 + above))


def test_an_average_of_nothing_but_right_answers_is_no_point() -> None:
    sure: dict[str, Any] = {"accuracy": 100.0, "stderr": {"accuracy": 0.0}}
    found = results(*[sure | {"intervals": {"accuracy": (72.0, 100.0)}}] * 2)
    for row in average_rows(["a"], found):
        assert row.cells[0] is not None
        assert row.cells[0].interval == pytest.approx((100 - 28 / math.sqrt(2), 100))


def test_what_has_no_samples_has_no_weighted_average() -> None:
    found = results(*[{"metrics": {"bleu": v}, "metric_samples": {"bleu": 0}} for v in (1.0, 3.0)])
    assert [(r.metric, r.cells) for r in average_rows(["a"], found)] == [
        ("naive_average", (Cell(2.0, 0),))
    ]


def test_means_of_other_metrics_are_other_rows() -> None:
    found = results({"accuracy": 60.0}, {"accuracy": 90.0})
    for part in (LAW, VIROLOGY):
        found["b", part.name] = result(part, "b", metrics={"bleu": 5.0})
    rows = [row for row in average_rows(["a", "b"], found) if row.metric == "naive_average"]
    assert [(row.cells, row.scale, row.mean_of) for row in rows] == [
        ((Cell(75.0, 20), None), 100, "accuracy"),
        ((None, Cell(5.0, 20)), 1, "bleu"),
    ]
