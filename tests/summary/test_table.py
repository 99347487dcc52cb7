from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from pytest_evalplug.summary.layouts import Grid, Show
from pytest_evalplug.summary.rows import Cell, Row
from pytest_evalplug.summary.table import Table


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
    table = Table(("a",), (row("d", "v", 1.0),), ("10 errors",))
    assert table.text().endswith("\n\n10 errors")
    assert table.markdown().endswith("\n\n- 10 errors")
    assert "10 errors" not in table.csv()
    assert table.to_wire()["notes"] == ["10 errors"]


def test_verbose_text_says_how_sure_a_value_is() -> None:
    cells = (Cell(80.0, 300, 2.3094, (75.4736, 84.5264)), Cell(7.0, 1), None)
    table = Table(("a", "b", "c"), (Row("d", "v", "accuracy", "gen", cells),))
    line = table.text(verbose=True).splitlines()[2]
    assert line.split("gen")[1].strip() == "80.00 ± 2.31 [75.47, 84.53] n=300  7.00 n=1    -"
    assert "±" not in table.text() + table.markdown() + table.csv()


def test_several_grids_stand_one_below_the_other() -> None:
    def halves(models: Sequence[str], rows: Sequence[Row], show: Show) -> list[Grid]:
        return [
            Grid(["x", *models], [[r.dataset, show(r.cells[0])]], range(1, 2), r.dataset)
            for r in rows
        ]

    table = Table(("a",), (row("d", "v", 1.0), row("e", "v", 2.0)), ("note",), layout=halves)
    assert table.text().split("\n") == [
        *("d", "x       a", "---  ----", "d    1.00", ""),
        *("e", "x       a", "---  ----", "e    2.00", "", "note"),
    ]
    assert table.markdown().startswith("### d\n\n| x   |    a |\n")
    assert table.csv() == "x,a\nd,1.00\n\nx,a\ne,2.00\n"


def test_json_has_unrounded_values_n_standard_error_interval_and_hidden_rows() -> None:
    table = Table(("a", "b"), (row("d", "v", 79.6875, None),), hidden=(row("e", "v", None, None),))
    wire = table.to_wire()
    assert [hidden["scores"] for hidden in wire["hidden"]] == [{"a": None, "b": None}]
    more = {"interval": None, "incomplete": None}
    assert wire["rows"] == [
        {
            "dataset": "d",
            "version": "v",
            "metric": "accuracy",
            "mode": "gen",
            "scale": 1.0,
            "scores": {"a": {"value": 79.6875, "n": 64, "stderr": 5.0, **more}, "b": None},
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
