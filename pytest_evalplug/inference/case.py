"""One thing to predict: a sample of a subset, once per repeat and model."""

from __future__ import annotations

__all__ = ["Case", "dataset_of"]

from dataclasses import dataclass

from pytest_evalplug.dataset.adapter import DefaultDataAdapter
from pytest_evalplug.dataset.ids import repeat_index
from pytest_evalplug.run.results import dataset_name
from pytest_evalplug.types import Sample


@dataclass(slots=True, eq=False)
class Case:
    """Kept light: there may be a hundred thousand of them."""

    adapter: DefaultDataAdapter
    subset: str
    sample: Sample
    """As it is shown to the model."""
    item_id: str
    repeat: int = 0
    model: str | None = None
    """The model's column; ``None`` where a user's own ``model_backend`` fixture names it."""
    scored: bool = False
    """Whether its verdict, or why there is none, is kept."""

    @property
    def dataset(self) -> str:
        """The name that files and tables use."""
        return dataset_of(self.adapter, self.subset)

    @property
    def index(self) -> str:
        """The key in the prediction file."""
        return repeat_index(self.sample.index, self.repeat, self.adapter.row_count(self.subset))


def dataset_of(adapter: DefaultDataAdapter, subset: str) -> str:
    """Return the name that files and tables use for a subset of a benchmark."""
    return dataset_name(adapter.meta.name, subset, several=adapter.has_subsets)
