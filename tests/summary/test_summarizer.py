from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_evalplug.errors import ConfigError, EvalplugError
from pytest_evalplug.run.directory import RunDirectory
from pytest_evalplug.summary.files import write_summary
from pytest_evalplug.summary.rows import Cell, DatasetRef
from pytest_evalplug.summary.run_table import known, summarize
from pytest_evalplug.summary.scores import Scores
from pytest_evalplug.summary.summarizer import DefaultSummarizer, Summarizer
from pytest_evalplug.summary.table import Table

from .conftest import Save


def test_rows_in_the_order_asked_for_each_benchmarks_average_after_its_last_subset(
    run: RunDirectory, save: Save
) -> None:
    subsets = ("law", "virology")
    law, virology = (DatasetRef("mmlu", subset, subsets) for subset in subsets)
    gsm8k, absent = DatasetRef("gsm8k"), DatasetRef("absent")
    for dataset, accuracy in ((law, 60.0), (virology, 90.0), (gsm8k, 50.0)):
        save(dataset, "a", accuracy)
    table = Summarizer().on(run, ["a", "b"], [gsm8k, law, absent, virology]).table()
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


def test_subsets_left_out_of_the_run_leave_no_average(run: RunDirectory, save: Save) -> None:
    law = DatasetRef("mmlu", "law", ("law", "virology"))
    save(law, "a", 60.0)
    table = Summarizer().on(run, ["a"], [law]).table()
    assert [row.cells for row in table.rows] == [(Cell(60.0, 10),), (None,), (None,)]
    assert table.notes == ("mmlu a: no average, 1 of 2 subsets have a result; missing: virology",)


A, B = DatasetRef("a"), DatasetRef("b")
GROUP = {"name": "g", "subsets": ["a", "b"], "weights": {"a": 100, "b": 200}}
VALUES = {"m": {"a": {"accuracy": 60.0, "f1": 7.0}, "b": {"accuracy": 90.0}}}


def shown(table: Table) -> list[tuple[str, str, float | None]]:
    return [
        (row.dataset, row.metric, row.cells[0].value if row.cells[0] else None)
        for row in table.rows
    ]


def test_everything_is_shown_groups_last() -> None:
    table = Summarizer(summary_groups=[GROUP]).tabulate(Scores.of(VALUES))
    assert shown(table) == [
        ("a", "accuracy", 60.0),
        ("a", "f1", 7.0),
        ("b", "accuracy", 90.0),
        ("g", "accuracy", 80.0),
        ("g", "weighted_average", 80.0),
    ]
    assert table.hidden == ()


def test_rows_of_every_kind_in_the_order_asked_for() -> None:
    abbrs = [
        ["g", "weighted_average"],
        "",
        "All Results",
        "a",
        ["a", "f1"],
        ["a", "em"],
        ["x", "y"],
    ]
    table = Summarizer(abbrs, [GROUP]).tabulate(Scores.of(VALUES))
    assert shown(table) == [
        ("g", "weighted_average", 80.0),
        ("", "-", None),
        ("All Results", "-", None),
        ("a", "accuracy", 60.0),
        ("a", "f1", 7.0),
        ("a", "-", None),
        ("x", "-", None),
    ]
    assert [(row.dataset, row.metric) for row in table.hidden] == [
        ("b", "accuracy"),
        ("g", "accuracy"),
    ]


def test_a_group_is_hidden_even_where_it_is_missing() -> None:
    table = Summarizer([], [{"name": "g", "subsets": ["x"]}]).tabulate(Scores.of(VALUES))
    assert [(row.dataset, row.metric, row.cells) for row in table.hidden][-1] == (
        *("g", "naive_average"),
        (None,),
    )
    assert table.notes == ()


def test_a_missing_group_that_is_asked_for_says_why() -> None:
    table = Summarizer(["g"], [{"name": "g", "subsets": ["a", "x"]}]).tabulate(Scores.of(VALUES))
    assert shown(table) == [("g", "-", None)]
    assert table.notes == ("g m: no naive_average, 1 of 2 subsets have a result; missing: x",)


@pytest.mark.parametrize(
    ("abbrs", "message"),
    [
        ("a", "dataset_abbrs: is a list of names"),
        ([["a"]], r"dataset_abbrs\[0\]: \['a'\] is neither a name nor a \[name, metric\] pair"),
        (["a", ["a", None]], r"dataset_abbrs\[1\]: "),
        ([3], r"dataset_abbrs\[0\]: 3 is neither"),
    ],
)
def test_rows_that_are_none(abbrs: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Summarizer(abbrs)


class Best(DefaultSummarizer):
    """Adds the best dataset, as a documented subclass would."""

    def summarize(self, output_path: str | None = None, time_str: str | None = None) -> Table:
        table = self.table()
        best = max(
            (cell.value, row.dataset)
            for row in table.rows
            for cell in row.cells
            if cell is not None
        )
        table = replace(table, notes=(*table.notes, f"best: {best[1]}"))
        write_summary(table, self.path(output_path, time_str))
        return table


def test_a_subclass_works_on_a_folder_without_pytest(run: RunDirectory, save: Save) -> None:
    save(A, "m", 60.0)
    save(B, "m", 90.0)
    table = Best(summary_groups=[GROUP]).on(str(run.path)).summarize(time_str="20260908_141530")
    assert table.notes == ("best: b",)
    (text,) = run.summary.glob("*.txt")
    assert text.name == "summary_20260908_141530.txt"
    assert text.read_text(encoding="utf-8") == table.text() + "\n"
    assert len(list(run.summary.iterdir())) == 4


def test_the_files_go_where_they_are_told(run: RunDirectory, save: Save, tmp_path: Path) -> None:
    save(A, "m", 60.0)
    table = Summarizer().on(run).summarize(str(tmp_path / "mine.txt"))
    assert (tmp_path / "mine.csv").read_text(encoding="utf-8") == table.csv()
    assert list(run.summary.iterdir()) == []


def test_a_summarizer_is_bound_by_copy(run: RunDirectory) -> None:
    summarizer = Summarizer()
    assert summarizer.on(run).run is run
    with pytest.raises(ConfigError, match="Summarizer: is not bound to a run"):
        summarizer.table()
    with pytest.raises(ConfigError, match="is not bound"):
        summarizer.summarize()


def test_the_summary_of_a_run_is_made_by_its_summarizer(run: RunDirectory, save: Save) -> None:
    save(A, "m", 60.0)
    assert summarize(run, ["m"], [A], Best()).notes == ("best: a",)
    save(B, "m", 90.0)
    # what a summary has, the next has too
    assert summarize(run, ["m"], [B], Best()).notes == ("best: b",)
    assert known(run) == (["m"], [A, B])
    assert [row.dataset for row in Summarizer().on(run).table().rows] == ["a", "b"]


class Broken(DefaultSummarizer):
    def __init__(self, what: Any) -> None:
        super().__init__()
        self.what = what

    def summarize(self, output_path: str | None = None, time_str: str | None = None) -> Table:
        if isinstance(self.what, Exception):
            raise self.what
        result: Table = self.what
        return result


@pytest.mark.parametrize(
    ("what", "message"),
    [
        (None, "Broken.summarize: returned NoneType. Return the Table that it made"),
        (KeyError("x"), "Broken.summarize: KeyError: 'x'"),
        (ConfigError("as it is"), "^as it is$"),
    ],
)
def test_what_an_own_summarizer_does_wrong_is_said(
    run: RunDirectory, save: Save, what: Any, message: str
) -> None:
    save(A, "m", 60.0)
    with pytest.raises(EvalplugError, match=message):
        summarize(run, ["m"], [A], Broken(what))


def test_the_configuration_goes_into_the_snapshot() -> None:
    wire = Summarizer(("a", ("b", "f1")), [GROUP]).to_wire()
    assert wire == {
        "type": "Summarizer",
        "dataset_abbrs": ["a", ["b", "f1"]],
        "summary_groups": [GROUP],
    }
