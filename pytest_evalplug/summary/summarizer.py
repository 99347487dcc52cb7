"""What turns a run's results into its summary; subclass it for another convention."""

from __future__ import annotations

__all__ = ["DefaultSummarizer"]

from collections.abc import Sequence

from pytest_evalplug.run.directory import RunDirectory
from pytest_evalplug.summary.files import write_summary
from pytest_evalplug.summary.rows import DatasetRef
from pytest_evalplug.summary.table import Table, build_table


class DefaultSummarizer:
    """Every metric of every dataset, then each benchmark's averages.

    A subclass overrides :meth:`table` to show something else, or :meth:`summarize` to write it
    differently.
    """

    def __init__(
        self, run: RunDirectory, models: Sequence[str], datasets: Sequence[DatasetRef]
    ) -> None:
        self.run = run
        self.models = models
        self.datasets = datasets

    def table(self) -> Table:
        """Return the table; metrics are read from the results files, never computed again."""
        return build_table(self.run, self.models, self.datasets)

    def summarize(self) -> Table:
        """Write the summary files and return their table."""
        table = self.table()
        write_summary(self.run, table)
        return table
