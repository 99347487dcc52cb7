"""The half of the adapter that turns a benchmark's data into Samples."""

from __future__ import annotations

__all__ = ["SampleAdapter"]

import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_evalplug.dataset.base import DataAdapter
from pytest_evalplug.dataset.dataset_dict import DatasetDict, count
from pytest_evalplug.dataset.ids import make_unique
from pytest_evalplug.dataset.loading import DataSource
from pytest_evalplug.dataset.records import check_labels, check_references, row_of, to_samples
from pytest_evalplug.dataset.seeding import sort_key
from pytest_evalplug.dataset.table import Origin, Record, Table
from pytest_evalplug.errors import ConfigError, DataError, EvalplugError
from pytest_evalplug.types import Sample


class SampleAdapter(DataAdapter):
    """Loads, filters, orders and limits Samples; each subset once, when it is asked for."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._whole_tables: dict[str, tuple[list[Sample], Origin]] = {}
        self._origins: dict[str, Origin] = {}
        self._complete: dict[str, list[Sample]] = {}
        self._available: dict[str, int] = {}
        self._loaded: DatasetDict | None = None

    def subsets(self) -> list[str]:
        """Return the selected subsets, in the benchmark's order."""
        wanted = self.options.subsets
        if not wanted:
            return list(self.subset_list)
        return [s for s in self.subset_list if s in wanted or f"{self.name}/{s}" in wanted]

    def samples(self, subset: str) -> list[Sample]:
        """Return a subset's Samples: filtered, shuffled, limited, each with ``id`` and ``index``.

        Raises DataError if the data is missing, malformed, empty or without references.
        """
        if subset not in self._complete:
            self._complete[subset] = self._prepare(subset)
        return self._complete[subset]

    def row_count(self, subset: str) -> int:
        """Return the number of records in the original split; a repeat's index counts on it."""
        self.samples(subset)
        return self._origins[subset].size

    def available(self, subset: str) -> int:
        """Return how many Samples the subset has without ``limit``."""
        self.samples(subset)
        return self._available[subset]

    def load_dataset(self) -> DatasetDict:
        """Return the Samples of all selected subsets, as they are evaluated."""
        return DatasetDict({subset: self.samples(subset) for subset in self.subsets()})

    def records(self, subset: str) -> list[Record]:
        """Read the eval split's records; record n is that of the Samples ``n`` and ``n.1``."""
        return list(self._table(self._table_name(subset), self.eval_split).records)

    def find_file(self, subset: str, name: str) -> Path:
        """Return a file that lies beside the data; raises DataError if there is none."""
        path = self._source.find_file(self._table_name(subset), name, shared=self._one_table)
        if path is None:
            raise DataError(
                f"no file {name!r} beside the data of {self.name}, subset {subset!r}",
                where=self._where,
                fix="Set --data-dir (EVALPLUG_DATA_DIR) to the folder that holds it.",
            )
        return path

    # --- what an author may override

    def load(self) -> DatasetDict:
        """Return the Samples of all subsets, before any selection."""
        return DatasetDict({subset: self.load_subset(subset) for subset in self.subset_list})

    def load_subset(self, subset: str) -> list[Sample]:
        """Return a subset's Samples from the eval split, before any selection."""
        samples, self._origins[subset] = self._load_split(subset, self.eval_split)
        return samples

    def load_fewshot_subset(self, subset: str) -> list[Sample]:
        """Return the Samples that a subset's shots are picked from: the train split's."""
        if self.train_split is None:
            raise ConfigError(
                f"few_shot_num is {self.few_shot_num}, but there is no train_split",
                where=self._where,
                fix="Name the split that the shots come from, or set few_shot_num=0.",
            )
        return self._load_split(subset, self.train_split)[0]

    def load_from_disk(self, subset: str | None, split: str) -> Table | list[Record] | None:
        """Return a split's records from a data directory or a local ``dataset_id``, or None.

        ``subset`` is None if the subsets lie in one table.
        """
        return self._source.local(subset, split, shared=self._one_table)

    def versions(self, sample: Sample) -> list[Sample]:
        """Return the Samples that are asked for a loaded one: that one alone, by default."""
        return [sample]

    def finish_sample(self, sample: Sample, subset: str) -> Sample:
        """Return a loaded Sample (a shot too) in the form in which it is shown and scored."""
        if self.shuffle_choices:
            raise ConfigError(
                "shuffle_choices needs to know which choice is right",
                where=self._where,
                fix="Subclass MultiChoiceAdapter.",
            )
        return sample

    # --- the steps

    def _prepare(self, subset: str) -> list[Sample]:
        loaded = self._load(subset)
        if not loaded:
            origin = self._origins.get(subset)
            raise DataError(
                f"subset {subset!r}, split {self.eval_split!r} has no samples",
                where=origin.source if origin else self._where,
            )
        self._number(loaded)
        origin = self._origins.setdefault(subset, Origin(self._where, row_of(loaded[-1]) + 1))
        self._check_references(loaded, origin)
        samples = [s for s in loaded if self.sample_filter(s)]
        if not samples:
            raise DataError(
                f"sample_filter keeps none of the {len(loaded)} samples of {subset!r}",
                where=self._where,
            )
        if self.shuffle:
            samples.sort(key=lambda s: sort_key(self.seed, self.name, subset, "order", s.index))
        self._available[subset] = sum(len(self.versions(s)) for s in samples)
        kept = samples[: count(len(samples), self.options.limit)]
        return [self._finish(v, subset, origin) for s in kept for v in self.versions(s)]

    def _load(self, subset: str) -> list[Sample]:
        if not self.overrides("load"):
            return self.load_subset(subset)
        if self._loaded is None:
            self._loaded = self.load()
        return self._loaded.get(subset, [])

    def _number(self, samples: Sequence[Sample]) -> None:
        """Give each Sample an index and an id of its own, the same under any selection."""
        for row, sample in enumerate(samples):
            sample.index = sample.index or str(row)
        names = (s.index if s.id is None else str(s.id) for s in samples)
        for sample, name in zip(
            samples, make_unique(names, [s.index for s in samples]), strict=True
        ):
            sample.id = name

    def _check_references(self, samples: Sequence[Sample], origin: Origin) -> None:
        if not self.reference_free:
            own = ("match_score", "llm_match_score", "calculate_metrics")
            check_references(samples, origin, needed=not any(self.overrides(m) for m in own))

    def _finish(self, sample: Sample, subset: str, origin: Origin) -> Sample:
        try:
            return self.finish_sample(sample, subset)
        except EvalplugError as error:
            error.where = error.where or origin.where(row_of(sample))
            raise

    def _load_split(self, subset: str, split: str) -> tuple[list[Sample], Origin]:
        if not self.reformat_subset:
            return self._convert(self._table(subset, split))
        if split not in self._whole_tables:
            self._whole_tables[split] = self._convert(self._table(None, split))
        samples, origin = self._whole_tables[split]
        groups = DatasetDict.from_dataset(samples)
        if subset not in groups:
            raise DataError(
                f"no row belongs to subset {subset!r}",
                where=origin.source,
                fix=f"Its subsets are: {', '.join(groups) or 'none'}",
            )
        return groups[subset], origin

    def _convert(self, table: Table) -> tuple[list[Sample], Origin]:
        if not self.reference_free:
            check_labels(table)
        return to_samples(table, self.record_to_sample), table.origin

    def _table(self, subset: str | None, split: str) -> Table:
        found = self.load_from_disk(subset, split)
        if found is None:
            found = self._source.remote(subset, split, shared=self._one_table)
        return found if isinstance(found, Table) else Table(found, f"{self._where}: load_from_disk")

    def _table_name(self, subset: str) -> str | None:
        return None if self.reformat_subset else subset

    @property
    def _one_table(self) -> bool:
        return self.reformat_subset or len(self.subset_list) == 1

    @property
    def _source(self) -> DataSource:
        return DataSource(
            benchmark=self.data_name or self.name,
            dataset_id=self.dataset_id,
            revision=self.revision,
            data_dirs=self.options.data_dirs,
            module_dir=_module_dir(type(self)),
            file_split=self.eval_split,
        )

    @property
    def _where(self) -> str:
        return self.options.where or self.name


def _module_dir(cls: type) -> Path | None:
    try:
        return Path(inspect.getfile(cls)).parent
    except (OSError, TypeError):
        return None
