from __future__ import annotations

import json

from pytest_evalplug.run.directory import RunDirectory
from pytest_evalplug.summary.files import free_path, write_summary
from pytest_evalplug.summary.rows import Cell, Row
from pytest_evalplug.summary.table import Table

TABLE = Table(
    ("模型",),
    (Row("gsm8k", "1d7fe4", "accuracy", "gen", (Cell(79.6875, 64, 5.0),)),),
    ("a note",),
)


def test_the_four_files_hold_the_one_table(run: RunDirectory) -> None:
    txt, comma, markdown, wire = write_summary(TABLE, free_path(run.summary, "now"))
    assert txt.read_text(encoding="utf-8") == TABLE.text() + "\n"
    assert comma.read_text(encoding="utf-8") == TABLE.csv()
    assert markdown.read_text(encoding="utf-8") == TABLE.markdown() + "\n"
    assert json.loads(wire.read_bytes()) == TABLE.to_wire()
    assert {path.parent for path in (txt, comma, markdown, wire)} == {run.path / "summary"}


def test_two_summaries_within_a_second_are_both_kept(run: RunDirectory) -> None:
    for _ in range(3):
        write_summary(TABLE, free_path(run.summary, "20260908_141530"))
    names = sorted(path.name for path in run.summary.glob("*.txt"))
    assert names == [f"summary_20260908_141530{end}.txt" for end in ("-2", "-3", "")]
    assert len(list(run.summary.iterdir())) == 12
