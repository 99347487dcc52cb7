from __future__ import annotations

from pytest_evalplug.run.directory import RunDirectory
from pytest_evalplug.summary.rows import Cell, DatasetRef
from pytest_evalplug.summary.summarizer import Summarizer

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
