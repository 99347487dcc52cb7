from __future__ import annotations

from typing import Any

import pytest

from pytest_evalplug.run.results import ResultFile
from pytest_evalplug.summary.notes import notes_for
from pytest_evalplug.summary.rows import DatasetRef

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


REPEATED: dict[str, Any] = {
    "num_samples": 8,
    "num_scored": 7,
    "num_errors": 1,
    "num_correct": 4,
    "metrics": {"accuracy": 400 / 7, "pass@1": 50.0},
    "if_errors_wrong": {"accuracy": 50.0},
    "repeats": 4,
    "k": [1, 4],
    "num_distinct": 2,
    "metric_samples": {"pass@1": 2, "pass@4": 1, "maj@4": 1},
}


def test_repeats_and_samples_with_too_few_of_them() -> None:
    assert notes(result(GSM8K, "qwen", **REPEATED)) == [
        "gsm8k qwen: 4 right of 7 scored = 57.1; 1 error; 50.0 if errors count as wrong",
        "gsm8k qwen: pass@4, maj@4 over 1 of 2 samples; the others have too few measured replies",
        "gsm8k qwen: each of 2 samples asked 4 times; means are over all runs",
    ]
    own = {**REPEATED, "metrics": {"pass@1": 50.0}, "metric_samples": {"pass@4": 2, "maj@4": 2}}
    assert "too few" not in "".join(notes(result(GSM8K, "qwen", **own)))
    nothing = {**REPEATED, "num_correct": None, "num_scored": 8, "metric_samples": {}}
    assert notes(result(GSM8K, "qwen", **nothing)) == [
        "gsm8k qwen: each of 2 samples asked 4 times; means are over all runs"
    ]


def test_cut_replies_are_added_up_over_subsets() -> None:
    subsets = ("a", "b")
    datasets = tuple(DatasetRef("mmlu", subset, subsets) for subset in subsets)
    cut = [result(d, "qwen", 1.0, num_truncated=6, num_replies=16) for d in datasets]
    assert notes(*cut, datasets=datasets) == ["mmlu qwen: 12 of 32 replies were cut at max_tokens"]


def test_lengths_of_replies() -> None:
    stats = {"n": 3, "mean": 4.25, "median": 4.0, "p95": 9, "max": 10}
    lengths = {"characters": stats, "tokens": {**stats, "n": 2}}
    assert notes(result(GSM8K, "qwen", 1.0, res_length=lengths)) == [
        "gsm8k qwen: reply length in characters: mean 4.2, median 4, p95 9, max 10 (n = 3)",
        "gsm8k qwen: reply length in tokens: mean 4.2, median 4, p95 9, max 10 (n = 2)",
    ]


def test_why_there_are_no_metrics() -> None:
    failed = result(
        GSM8K, "qwen", error="Bleu: no corpus", num_errors=1, num_scored=9,
        metrics={"extract_rate": 90.0},
    )  # fmt: skip
    assert notes(failed) == [
        "gsm8k qwen: no metrics, Bleu: no corpus",
        "gsm8k qwen: 9 of 10 scored; 1 error",
    ]
