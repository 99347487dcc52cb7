from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_evalplug.errors import ConfigError, DataError
from pytest_evalplug.run.directory import RunDirectory
from pytest_evalplug.run.results import ResultFile, dataset_name, shared_dataset
from pytest_evalplug.types import Detail


def result(**more: Any) -> ResultFile:
    fields: dict[str, Any] = {
        "model": "org/qwen",
        "dataset": "gsm8k",
        "benchmark": "gsm8k",
        "subset": "main",
        "version": "1d7fe4",
        "mode": "gen",
        "num_samples": 100,
        "num_scored": 90,
        "num_errors": 10,
        "num_correct": 80,
        "metrics": {"accuracy": 8000 / 90, "f1": 0.25},
        "stderr": {"accuracy": 3.33},
        "intervals": {"accuracy": (79.8, 94.0)},
        "if_errors_wrong": {"accuracy": 80.0},
        "details": [
            Detail("0", "a", "main", pred="\ud800\u2028", answer=0, correct=False),
            Detail("1", "b", "main", error="down"),
        ],
    }
    return ResultFile(**{**fields, **more})


def test_a_result_comes_back(run: RunDirectory) -> None:
    assert result().write(run) == run.result_file("org/qwen", "gsm8k")
    assert ResultFile.read(run, "org/qwen", "gsm8k") == result()
    assert ResultFile.read(run, "qwen", "gsm8k") is None


@pytest.mark.parametrize("details", [None, []])
@pytest.mark.parametrize("metrics", [{}, {"accuracy": 1.0}])
def test_a_result_without_some_part_comes_back(
    run: RunDirectory, details: Any, metrics: dict[str, float]
) -> None:
    written = result(details=details, metrics=metrics)
    written.write(run)
    assert ResultFile.read(run, "org/qwen", "gsm8k") == written


def test_the_file_is_as_documented(run: RunDirectory) -> None:
    content = json.loads(result(partial=True).write(run).read_bytes())
    assert list(content) == ["accuracy", "f1", "run", "details"]
    assert content["accuracy"] == 8000 / 90
    assert content["details"][0]["answer"] == 0
    assert content["run"] == {
        "model": "org/qwen",
        "dataset": "gsm8k",
        "benchmark": "gsm8k",
        "subset": "main",
        "version": "1d7fe4",
        "mode": "gen",
        "num_samples": 100,
        "num_scored": 90,
        "num_errors": 10,
        "num_skipped": 0,
        "num_correct": 80,
        "partial": True,
        "shard": None,
        "stderr": {"accuracy": 3.33},
        "intervals": {"accuracy": [79.8, 94.0]},
        "if_errors_wrong": {"accuracy": 80.0},
        "unlisted": [],
        "repeats": 1,
        "k": [],
        "num_distinct": 0,
        "num_rows": 0,
        "metric_samples": {},
        "num_replies": 0,
        "num_truncated": 0,
        "num_fewer_shots": 0,
        "num_imported": 0,
        "num_with_usage": 0,
        "usage": {},
        "res_length": None,
        "error": None,
    }


def test_the_head_is_read_without_the_details(run: RunDirectory) -> None:
    path = result().write(run)
    assert ResultFile.load(path, details=False) == result(details=None)
    content = path.read_text()
    path.write_text(content[: content.index('"details": [') + 40] + "... damaged")
    assert ResultFile.load(path, details=False) == result(details=None)
    path.write_text(json.dumps(json.loads(content), indent=1))  # not as we write it
    assert ResultFile.load(path, details=False) == result(details=None)


def test_what_is_no_number_comes_back_apart(run: RunDirectory) -> None:
    other = {"languages": ["en"], "ok": True, "note": "text", "nothing": None}
    written = result(other=other, unlisted=["f1"], metric_samples={"f1": 3})
    content = json.loads(written.write(run).read_bytes())
    assert content["ok"] is True
    read = ResultFile.read(run, "org/qwen", "gsm8k")
    assert read == written
    assert read is not None
    assert (read.other, read.samples_of("f1"), read.samples_of("accuracy")) == (other, 3, 90)


def test_the_extraction_rate_is_no_score() -> None:
    assert result(metrics={"extract_rate": 90.0, "f1": 1.0}).scores == {"f1": 1.0}


@pytest.mark.parametrize("name", ["details", "run"])
def test_a_metric_cannot_take_a_reserved_name(run: RunDirectory, name: str) -> None:
    with pytest.raises(ConfigError, match=f"gsm8k: a metric may not be called '{name}'"):
        result(metrics={name: 1.0}).write(run)
    with pytest.raises(ConfigError, match=f"gsm8k: a metric may not be called '{name}'"):
        result(other={name: "text"}).write(run)


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", "[" * 100_000, '{"run": {}}', '{"run": 1}', '{"run": {"ver']
)
def test_a_damaged_file_is_one_clear_line(run: RunDirectory, content: str) -> None:
    path = result().write(run)
    path.write_text(content)
    with pytest.raises(DataError, match=r"gsm8k\.json: the results file can't be read") as caught:
        ResultFile.load(path)
    assert "\n" not in str(caught.value)


def test_a_later_versions_fields_are_ignored(run: RunDirectory) -> None:
    path = result().write(run)
    content = json.loads(path.read_bytes())
    content["run"]["new_field"] = 1
    path.write_text(json.dumps(content))
    assert ResultFile.load(path) == result()


def test_dataset_names() -> None:
    assert dataset_name("gsm8k", "main", several=False) == "gsm8k"
    assert dataset_name("mmlu", "law", several=True) == "mmlu-law"


@pytest.mark.parametrize(
    ("subsets", "others", "shared"),
    [
        (["c", "d"], {"a": ["b-c", "x"]}, "a-b-c"),
        (["only"], {"x": ["y", "z"], "a": ["b", "x"]}, "a-b"),
        (["c", "d"], {"a": ["b-c"]}, None),
        (["c", "d"], {"a-b": ["c", "d"], "a": ["c", "d"]}, None),
    ],
)
def test_two_benchmarks_with_one_dataset_name(
    subsets: list[str], others: dict[str, list[str]], shared: str | None
) -> None:
    error = shared_dataset("a-b", subsets, others)
    if shared is None:
        assert error is None
        return
    assert str(error) == (
        f"BenchmarkMeta 'a-b': benchmarks 'a-b' and 'a' both have a dataset '{shared}'. "
        "Rename one of the benchmarks, or its subset"
    )


def test_a_comma_that_is_missing_is_damage(run: RunDirectory) -> None:
    path = result(details=[Detail("0", "d-0", "s"), Detail("1", "d-1", "s")]).write(run)
    path.write_text(path.read_text().replace('},\n{"index": "1"', '}\n{"index": "1"'))
    with pytest.raises(DataError, match="can't be read"):
        ResultFile.load(path)
