from __future__ import annotations

from typing import Any

import pytest

from pytest_evalplug.run.results import ResultFile
from pytest_evalplug.summary.notes import notes_for, precision_lines
from pytest_evalplug.summary.rows import Cell, DatasetRef, Row

from .conftest import result

GSM8K = DatasetRef("gsm8k")
TEN_ERRORS: dict[str, Any] = {
    "num_samples": 100,
    "num_scored": 90,
    "num_errors": 10,
    "num_correct": 80,
    "metrics": {"accuracy": 8000 / 90},
    "if_errors_wrong": {"accuracy": 80.0},
}


def notes(*results: ResultFile, datasets: tuple[DatasetRef, ...] = (GSM8K,)) -> list[str]:
    models = list(dict.fromkeys(r.model for r in results)) or ["qwen"]
    return notes_for(models, datasets, {(r.model, r.dataset): r for r in results})


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (
            {},
            "80 right of 90 scored = 88.9; 10 errors; 80.0 if errors count as wrong",
        ),
        (
            {"num_samples": 101, "num_skipped": 10, "num_errors": 1},
            "80 right of 90 scored = 88.9; 1 error; 10 skipped; 80.0 if errors count as wrong",
        ),
        (
            {"num_errors": 0, "num_skipped": 10, "if_errors_wrong": {}},
            "80 right of 90 scored = 88.9; 10 skipped",
        ),
        (
            {"num_correct": None, "metrics": {"bleu": 31.25}, "if_errors_wrong": {}},
            "90 of 100 scored, bleu 31.2; 10 errors",
        ),
        (  # a verdict by threshold: the share of right answers isn't the metric
            {"metrics": {"f1": 45.0}, "if_errors_wrong": {"f1": 40.5}},
            "80 right of 90 scored, f1 45.0; 10 errors; 40.5 if errors count as wrong",
        ),
        (
            {"num_scored": 0, "num_errors": 100, "num_correct": None, "metrics": {}},
            "0 of 100 scored; 100 errors",
        ),
    ],
)
def test_coverage_below_a_hundred_percent_is_said(change: dict[str, Any], line: str) -> None:
    assert notes(result(GSM8K, "qwen", **{**TEN_ERRORS, **change})) == [f"gsm8k qwen: {line}"]


def test_full_coverage_needs_no_word() -> None:
    assert notes(result(GSM8K, "qwen", 80.0)) == []
    assert notes() == []


def test_missing_subsets_are_named_a_few_of_them() -> None:
    subsets = tuple("abcdefgh")
    datasets = tuple(DatasetRef("mmlu", subset, subsets) for subset in subsets)
    assert notes(result(datasets[0], "qwen", 1.0), datasets=datasets) == [
        "mmlu qwen: no average, 1 of 8 subsets have a result; missing: b, c, d, e, f and 2 more"
    ]


def test_a_partial_run_says_so_once_per_benchmark_and_model() -> None:
    subsets = ("a", "b")
    datasets = tuple(DatasetRef("mmlu", subset, subsets) for subset in subsets)
    partial = [result(d, m, 1.0, partial=True) for d in datasets for m in ("qwen", "gpt")]
    assert notes(*partial, datasets=datasets) == [
        "mmlu qwen: partial run, 20 samples; not the benchmark's score",
        "mmlu gpt: partial run, 20 samples; not the benchmark's score",
    ]


def test_precision_lines_have_n_and_the_standard_error() -> None:
    row = Row("gsm8k", "v", "accuracy", "gen", (Cell(79.6875, 64, 5.0696), Cell(1.0, 1), None))
    assert precision_lines(["a", "b", "c"], [row]) == ["gsm8k a: accuracy 79.69 ± 5.07 (n = 64)"]
