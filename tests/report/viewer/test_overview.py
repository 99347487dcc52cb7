from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_evalplug.report.viewer.overview import overview
from pytest_evalplug.run.results import ResultFile
from pytest_evalplug.summary.run_table import summarize
from tests.report.viewer.runs import Given, make_run, opened


def test_the_rows_are_the_summarys(tmp_path: Path) -> None:
    given = {("m", subset): [Given("a"), Given("b", correct=False)] for subset in ("x", "y")}
    about = overview(opened(make_run(tmp_path, given)))
    rows = {(row["dataset"], row["metric"]): row for row in about["rows"]}
    assert rows["quiz-x", "accuracy"]["scores"]["m"]["value"] == 50
    assert rows["quiz", "naive_average"]["percent"] is True
    assert [table["key"] for table in about["tables"]] == ["t0", "t1"]
    assert "details" not in about["tables"][0]


def test_every_average_has_its_own_scale(tmp_path: Path) -> None:
    run = make_run(tmp_path, {("m", subset): [Given("a")] for subset in ("x", "y")})
    for name in ("quiz-x", "quiz-y"):
        result = ResultFile.read(run, "m", name)
        assert result is not None
        metrics = {"accuracy": 100.0, "f1": 50.0, "bits": 1.5}
        replace(result, metrics=metrics).write(run)
    summarize(run, ["m"], [])
    percent = {row["metric"]: row["percent"] for row in overview(opened(run))["rows"]}
    assert percent == {
        **dict.fromkeys(("accuracy", "f1", "naive_average", "weighted_average"), True),
        **dict.fromkeys(("f1_naive_average", "f1_weighted_average"), True),
        **dict.fromkeys(("bits", "bits_naive_average", "bits_weighted_average"), False),
    }


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"rows": 3, "models": []}',
        '{"rows": [1], "models": []}',
        '{"rows": [{"dataset": "quiz", "scores": {}}], "models": []}',
        '{"rows": [{"dataset": "quiz", "metric": "accuracy", "scores": []}], "models": []}',
        '{"rows": [{"dataset": "quiz", "metric": "f1", "scores": {"m": 3}}], "models": []}',
    ],
)
def test_without_a_summary_of_ours_the_results_are_the_rows(tmp_path: Path, text: str) -> None:
    run = make_run(tmp_path, {("m", "main"): [Given("a")]})
    for path in (run.path / "summary").iterdir():
        path.unlink()
    (run.path / "summary" / "summary_20260101_000000.json").write_text(text)
    [row] = overview(opened(run))["rows"]
    assert (row["dataset"], row["metric"], row["scores"]["m"]["value"]) == ("quiz", "accuracy", 100)


@pytest.mark.parametrize("text", [None, "{", "{}"])
def test_gates_that_are_not_there(tmp_path: Path, text: str | None) -> None:
    run = make_run(tmp_path, {("m", "main"): [Given("a")]})
    if text is not None:
        (run.path / "report").mkdir()
        (run.path / "report" / "gates.json").write_text(text)
    assert overview(opened(run))["gates"] == []


def test_no_configuration_is_in_it(tmp_path: Path) -> None:
    run = make_run(tmp_path, {("m", "main"): [Given("a")]})
    about: dict[str, Any] = overview(opened(run))
    assert {*about} == {"name", "state", "models", "rows", "notes", "gates", "tables"}
