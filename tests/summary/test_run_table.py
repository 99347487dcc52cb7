"""What a run's summary is of, also where the file that says so is damaged."""

from __future__ import annotations

import pytest

from pytest_evalplug.run.directory import RunDirectory
from pytest_evalplug.summary.rows import DatasetRef
from pytest_evalplug.summary.run_table import KNOWN, known, summarize

from .conftest import Save

LAW, VIROLOGY = (DatasetRef("mmlu", name, ("law", "virology")) for name in ("law", "virology"))
DAMAGED = [
    b'{"models": ["m"], "data',
    b"\xff",
    b"[]",
    b"{}",
    b'{"models": [["m"]], "datasets": []}',
    b'{"models": ["m"], "datasets": [["a"]]}',
    b'{"models": ["m"], "datasets": [["a", "b", [3]]]}',
]


@pytest.mark.parametrize("content", DAMAGED)
def test_what_is_damaged_is_taken_from_the_results(
    run: RunDirectory, save: Save, content: bytes
) -> None:
    for dataset in (LAW, VIROLOGY):
        save(dataset, "m", 50.0)
    summarize(run, ["m"], [LAW, VIROLOGY])
    (run.configs / KNOWN).write_bytes(content)
    assert known(run) == (["m"], [LAW, VIROLOGY])


def test_a_session_goes_on_from_a_damaged_one(run: RunDirectory, save: Save) -> None:
    save(LAW, "m", 50.0)
    (run.configs / KNOWN).write_text("{")
    save(DatasetRef("quiz"), "m", 60.0)
    table = summarize(run, ["m"], [LAW, DatasetRef("quiz")])
    assert [row.dataset for row in table.rows][:1] == ["mmlu-law"]
    assert [row.dataset for row in table.rows].count("quiz") == 1
    assert known(run)[0] == ["m"]


def test_the_order_is_the_sessions(run: RunDirectory, save: Save) -> None:
    for model in "ab":
        save(LAW, model, 50.0)
    assert summarize(run, ["b", "a"], [LAW]).models == ("b", "a")
