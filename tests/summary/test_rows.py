from __future__ import annotations

from typing import Any

import pytest

from pytest_evalplug.run.directory import RunDirectory
from pytest_evalplug.summary.rows import (
    Cell,
    DatasetRef,
    Row,
    dataset_rows,
    first_metric,
    in_order,
    read_results,
)
from pytest_evalplug.types import Detail

from .conftest import Save, result

GSM8K = DatasetRef("gsm8k", "main", ("main",))
LAW = DatasetRef("mmlu", "law", ("law", "virology"))


def test_a_dataset_is_called_by_its_subset_only_if_there_are_several() -> None:
    assert GSM8K.name == "gsm8k"
    assert LAW.name == "mmlu-law"
    assert LAW.sibling("virology") == "mmlu-virology"


def test_only_what_there_is_is_read_and_details_are_not_held(run: RunDirectory, save: Save) -> None:
    save(GSM8K, "a", 70.0, details=[Detail("0", "a", "main", "1")])
    found = read_results(run, ["a", "b"], [GSM8K, LAW])
    assert found == {("a", "gsm8k"): result(GSM8K, "a", 70.0)}


def test_a_row_per_metric_the_well_known_ones_first() -> None:
    metrics = {"bleu": 1.0, "f1": 2.0, "accuracy": 3.0, "zeta": 4.0, "alpha": 5.0}
    results = {("a", "gsm8k"): result(GSM8K, "a", metrics=metrics, stderr={"f1": 0.5})}
    rows = dataset_rows("gsm8k", ["a"], results)
    assert [row.metric for row in rows] == ["accuracy", "f1", "bleu", "zeta", "alpha"]
    assert rows[1] == Row("gsm8k", "1d7fe4", "f1", "gen", (Cell(2.0, 10, 0.5),), 100)


def test_a_column_per_model_with_gaps() -> None:
    results = {
        ("a", "gsm8k"): result(GSM8K, "a", 70.0),
        ("c", "gsm8k"): result(GSM8K, "c", metrics={"accuracy": 0.0, "f1": 2.0}),
    }
    accuracy, f1 = dataset_rows("gsm8k", ["a", "b", "c"], results)
    assert accuracy.cells == (Cell(70.0, 10), None, Cell(0.0, 10))
    assert f1.cells == (None, None, Cell(2.0, 10))


@pytest.mark.parametrize("change", ["version", "mode"])
def test_another_version_or_mode_is_never_in_the_same_row(change: str) -> None:
    results = {
        ("a", "gsm8k"): result(GSM8K, "a", 70.0),
        ("b", "gsm8k"): result(GSM8K, "b", 80.0, **{change: "other"}),
    }
    first, second = dataset_rows("gsm8k", ["a", "b"], results)
    assert first.cells == (Cell(70.0, 10), None)
    assert second.cells == (None, Cell(80.0, 10))
    assert getattr(second, change) == "other"


def test_no_result_or_nothing_scored_is_a_row_of_dashes() -> None:
    dashes = [Row("gsm8k", "-", "-", "-", (None,))]
    assert dataset_rows("gsm8k", ["a"], {}) == dashes
    empty = result(GSM8K, "a", num_scored=0, num_errors=10)
    assert dataset_rows("gsm8k", ["a"], {("a", "gsm8k"): empty}) == dashes


def test_metrics_are_in_opencompass_order_and_some_never_there() -> None:
    order = [
        *("score", "auc_score", "accuracy", "humaneval_pass@1", "rouge1", "avg_toxicity_score"),
        *("bleurt_diff", "matthews_correlation", "truth", "f1", "exact_match", "extract_rate"),
        *("zeta", "alpha"),
    ]
    given = ["zeta", "type", "bp", "alpha", *reversed(order[:-2]), "sys_len", "ref_len"]
    assert in_order(given) == order


def test_a_bare_name_stands_for_the_first_metric_that_is_a_score() -> None:
    assert first_metric(["extract_rate", "bleu", "chrf"]) == "bleu"
    assert first_metric(["extract_rate"]) == "extract_rate"
    assert first_metric([]) is None


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({}, None),
        ({"num_errors": 1}, "1 error"),
        ({"num_errors": 10, "partial": True}, "partial run, 10 errors"),
        ({"num_skipped": 3}, None),
    ],
)
def test_a_cell_says_why_it_is_incomplete(change: dict[str, Any], why: str | None) -> None:
    found = result(GSM8K, "a", 70.0, intervals={"accuracy": (60.0, 78.0)}, **change)
    (row,) = dataset_rows("gsm8k", ["a"], {("a", "gsm8k"): found})
    assert row.cells == (Cell(70.0, 10, None, (60.0, 78.0), why),)


def test_the_extraction_rate_is_no_score() -> None:
    both = result(GSM8K, "a", metrics={"extract_rate": 90.0, "bleu": 1.0, "accuracy": 2.0})
    rows = dataset_rows("gsm8k", ["a"], {("a", "gsm8k"): both})
    assert [row.metric for row in rows] == ["accuracy", "extract_rate", "bleu"]
    alone = result(GSM8K, "a", metrics={"extract_rate": 90.0})
    rows = dataset_rows("gsm8k", ["a"], {("a", "gsm8k"): alone})
    assert [(row.metric, row.cells) for row in rows] == [
        ("-", (None,)),
        ("extract_rate", (Cell(90.0, 10),)),
    ]


def test_unlisted_metrics_stay_in_the_file_and_cells_have_their_own_n() -> None:
    repeated = result(
        GSM8K, "a", metrics={"pass@4": 1.0, "G-Pass@4_0.5": 2.0},
        unlisted=["G-Pass@4_0.5"], metric_samples={"pass@4": 3},
    )  # fmt: skip
    (row,) = dataset_rows("gsm8k", ["a"], {("a", "gsm8k"): repeated})
    assert (row.metric, row.cells) == ("pass@4", (Cell(1.0, 3),))
