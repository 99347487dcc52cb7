"""One thing to predict: a sample of a subset, once per repeat and model."""

from __future__ import annotations

__all__ = ["Case", "dataset_name", "repeat_index"]

from dataclasses import dataclass

from pytest_evalplug.dataset.adapter import DefaultDataAdapter
from pytest_evalplug.types import Sample


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """Refers to a sample by its position, so that a hundred thousand of them stay light."""

    adapter: DefaultDataAdapter
    subset: str
    position: int
    item_id: str
    repeat: int = 0
    model: str | None = None
    """The model's column; ``None`` where a user's own ``model_backend`` fixture names it."""

    @property
    def sample(self) -> Sample:
        """The Sample as it is shown to the model."""
        return self.adapter.samples(self.subset)[self.position]

    @property
    def dataset(self) -> str:
        """The name that files and tables use."""
        return dataset_name(self.adapter, self.subset)

    @property
    def index(self) -> str:
        """The key in the prediction file."""
        return repeat_index(self.sample.index, self.repeat, self.adapter.row_count(self.subset))


def dataset_name(adapter: DefaultDataAdapter, subset: str) -> str:
    """Return the benchmark's name where it has one subset, else ``<benchmark>-<subset>``."""
    name = adapter.meta.name
    return name if len(adapter.subset_list) == 1 else f"{name}-{subset}"


def repeat_index(index: str, repeat: int, rows: int) -> str:
    """Return ``index + repeat * rows``, keeping the ``.1`` of a row's second Sample."""
    row, dot, part = index.partition(".")
    return f"{int(row) + repeat * rows}{dot}{part}"
