from __future__ import annotations

import csv
import io

from pytest_evalplug.run.directory import RunDirectory
from pytest_evalplug.summary.rows import Cell, DatasetRef, Row
from pytest_evalplug.summary.table import Table, build_table

from .conftest import Save


def row(dataset: str = "demo_gsm8k", version: str = "1d7fe4", *values: float | None) -> Row:
    cells = tuple(None if value is None else Cell(value, 64, 5.0) for value in values)
    return Row(dataset, version, "accuracy", "gen", cells)


def test_the_text_is_the_documented_table() -> None:
    table = Table(("gpt-6-astra-response",), (row("demo_gsm8k", "1d7fe4", 79.6875),))
    assert table.text() == (
        "dataset     version    metric    mode      gpt-6-astra-response\n"
        "----------  ---------  --------  ------  ----------------------\n"
        "demo_gsm8k  1d7fe4     accuracy  gen                      79.69"
    )


def test_every_form_has_the_same_cells() -> None:
    table = Table(("a", "b"), (row("d", "v", 100, None), row("e", "v", 0.0, 12.345)))
    expected = [
        ["dataset", "version", "metric", "mode", "a", "b"],
        ["d", "v", "accuracy", "gen", "100.00", "-"],
        ["e", "v", "accuracy", "gen", "0.00", "12.35"],
    ]
    text = [line.split() for line in table.text().splitlines()]
    markdown = [line.replace("|", " ").split() for line in table.markdown().splitlines()]
    assert [text[0], *text[2:]] == expected
    assert [markdown[0], *markdown[2:]] == expected
    assert list(csv.reader(io.StringIO(table.csv()))) == expected


def test_a_version_that_looks_like_a_number_stays() -> None:
    for version in ("12e456", "001234", "1e9", "inf"):
        table = Table(("a",), (row("d", version, 1.0),))
        for text in (table.text(), table.markdown(), table.csv()):
            assert version in text


def test_notes_stand_below_and_not_in_the_csv() -> None:
    table = Table(("a",), (row("d", "v", 1.0),), ("10 errors",), ("± 5.00",))
    assert table.text().endswith("\n\n10 errors\n\n± 5.00")
    assert table.markdown().endswith("\n\n- 10 errors\n\n- ± 5.00")
    assert "10 errors" not in table.csv()
    assert table.to_wire()["notes"] == ["10 errors"]


def test_json_has_unrounded_values_n_and_standard_error() -> None:
    wire = Table(("a", "b"), (row("d", "v", 79.6875, None),)).to_wire()
    assert wire["rows"] == [
        {
            "dataset": "d",
            "version": "v",
            "metric": "accuracy",
            "mode": "gen",
            "scores": {"a": {"value": 79.6875, "n": 64, "stderr": 5.0}, "b": None},
        }
    ]


def test_names_cannot_break_the_table() -> None:
    table = Table(("a|b\n", "c,\x1b[31m"), (row("d\u2028e", "v", 1.0, 2.0),), ("a\nb",))
    assert len(table.text().splitlines()) == 5
    assert "\x1b" not in table.text()
    header = table.markdown().splitlines()[0]
    assert header.replace("\\|", "").count("|") == 7
    assert len(list(csv.reader(io.StringIO(table.csv())))) == 2


def test_an_empty_table_has_a_header() -> None:
    assert Table(("a",), ()).text().split()[:5] == ["dataset", "version", "metric", "mode", "a"]
    assert Table((), ()).csv() == "dataset,version,metric,mode\n"


def test_rows_in_the_order_asked_for_each_benchmarks_average_after_its_last_subset(
    run: RunDirectory, save: Save
) -> None:
    subsets = ("law", "virology")
    law, virology = (DatasetRef("mmlu", subset, subsets) for subset in subsets)
    gsm8k, absent = DatasetRef("gsm8k"), DatasetRef("absent")
    stderr = {"accuracy": 3.0}
    for dataset, accuracy in ((law, 60.0), (virology, 90.0), (gsm8k, 50.0)):
        save(dataset, "a", accuracy, stderr=stderr)
    table = build_table(run, ["a", "b"], [gsm8k, law, absent, virology])
    assert [(row.dataset, row.metric) for row in table.rows] == [
        ("gsm8k", "accuracy"),
        ("mmlu-law", "accuracy"),
        ("absent", "-"),
        ("mmlu-virology", "accuracy"),
        ("mmlu", "naive_average"),
        ("mmlu", "weighted_average"),
    ]
    assert table.notes == (
        "mmlu b: no average, 0 of 2 subsets have a result; missing: law, virology",
    )
    assert table.precision == (
        "gsm8k a: accuracy 50.00 ± 3.00 (n = 10)",
        "mmlu a: naive_average 75.00 ± 2.12 (n = 20)",
        "mmlu a: weighted_average 75.00 ± 2.12 (n = 20)",
    )


def test_subsets_left_out_of_the_run_leave_no_average(run: RunDirectory, save: Save) -> None:
    law = DatasetRef("mmlu", "law", ("law", "virology"))
    save(law, "a", 60.0)
    table = build_table(run, ["a"], [law])
    assert [row.cells for row in table.rows] == [(Cell(60.0, 10),), (None,), (None,)]
    assert table.notes == ("mmlu a: no average, 1 of 2 subsets have a result; missing: virology",)
