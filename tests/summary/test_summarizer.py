from __future__ import annotations

from pytest_evalplug.run.directory import RunDirectory
from pytest_evalplug.summary.rows import DatasetRef
from pytest_evalplug.summary.summarizer import DefaultSummarizer
from pytest_evalplug.summary.table import Table

from .conftest import Save

GSM8K = DatasetRef("gsm8k")


def test_summarize_writes_and_returns_the_table(run: RunDirectory, save: Save) -> None:
    save(GSM8K, "a", 70.0)
    table = DefaultSummarizer(run, ["a"], [GSM8K]).summarize()
    assert "70.00" in table.text()
    assert [path.read_text() for path in run.summary.glob("*.txt")] == [table.text() + "\n"]


def test_a_subclass_may_show_another_table(run: RunDirectory) -> None:
    class Silent(DefaultSummarizer):
        def table(self) -> Table:
            return Table(tuple(self.models), (), ("nothing to see",))

    Silent(run, ["a"], [GSM8K]).summarize()
    (path,) = run.summary.glob("*.md")
    assert path.read_text().endswith("- nothing to see\n")
