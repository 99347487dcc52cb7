"""Find a benchmark's data: the data directories first, then ``dataset_id`` (a path, or a hub)."""

from __future__ import annotations

__all__ = ["DataSource"]

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from pytest_evalplug.dataset.hub import load_from_hub
from pytest_evalplug.dataset.readers import EXTENSIONS, read_table
from pytest_evalplug.dataset.table import Table
from pytest_evalplug.errors import DataError, one_line

_SAVED = ("dataset_info.json", "dataset_dict.json")
"""What marks a folder that ``datasets`` saved (one split, or several)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSource:
    """Where one benchmark's tables are looked for."""

    benchmark: str
    dataset_id: str = ""
    revision: str | None = None
    data_dirs: Sequence[Path] = ()
    module_dir: Path | None = None
    """The folder that a relative ``dataset_id`` starts from."""
    file_split: str = "test"
    """The split that a ``dataset_id`` which is a single file stands for."""

    def local(self, subset: str | None, split: str, *, shared: bool) -> Table | None:
        """Return the split from a data directory or a local ``dataset_id``, or None.

        ``shared``: the table may lie without a subset in its path (the benchmark has one subset,
        or tells them apart by a column). Raises DataError for a file that can't be read.
        """
        for folder in self._folders():
            if folder.is_file():
                if split == self.file_split:
                    return read_table(folder)
                continue
            if not _is_below(split):
                continue
            for stem in _stems(folder, subset, split, shared):
                for extension in EXTENSIONS:
                    path = stem.with_name(f"{stem.name}.{extension}")
                    if path.is_file():
                        return read_table(path)
                if (table := _saved_split(stem, split)) is not None:
                    return table
        return None

    def remote(self, subset: str | None, split: str, *, shared: bool) -> Table:
        """Return the split from the hub; raises DataError that says where the data could lie."""
        looked = [
            f"{folder}/{place}"
            for folder in self._folders(local_id=False)
            for place in _places(subset, split, shared)
        ]
        name = self.benchmark if subset is None else f"{self.benchmark}, subset {subset!r}"
        try:
            if not self.dataset_id:
                raise LookupError("there is no dataset_id")
            if self.is_local_id:
                raise LookupError(f"nor below dataset_id {self.dataset_id!r}")
            return load_from_hub(self.dataset_id, subset, split, self.revision)
        except LookupError as error:
            places = f"not at {', '.join(looked)}" if looked else "no data directory is set"
            folder = "" if shared or subset is None else f"{subset}/"
            raise DataError(
                f"no data for {name}, split {split!r}: {places}; {error.args[0]}",
                fix=f"{'Put a file there, or set' if looked else 'Set'} --data-dir "
                "(EVALPLUG_DATA_DIR, ini evalplug_data_dir) to the folder that holds it"
                f"{'' if looked else f', as {self.benchmark}/{folder}{split}.jsonl'}.",
            ) from None

    def find_file(self, subset: str | None, name: str, *, shared: bool) -> Path | None:
        """Return a file that lies beside the data (``cot_prompt.txt``), or None."""
        for folder in self._folders():
            places = [folder / name] if shared else []
            if subset is not None and _is_below(subset):
                places.append(folder / subset / name)
            for path in places:
                if path.is_file():
                    return path
        return None

    @property
    def is_local_id(self) -> bool:
        """Whether ``dataset_id`` is a path: it exists, or is written as one."""
        return self.dataset_id.startswith((".", "/", "~")) or self._local_id() is not None

    def _local_id(self) -> Path | None:
        if not self.dataset_id:
            return None
        path = Path(self.dataset_id).expanduser()
        for base in (self.module_dir, Path()):
            if base is not None and (base / path).exists():
                return base / path
        return None

    def _folders(self, *, local_id: bool = True) -> Iterator[Path]:
        if _is_below(self.benchmark):
            for directory in self.data_dirs:
                yield directory / self.benchmark
        if local_id and (path := self._local_id()) is not None:
            yield path


def _places(subset: str | None, split: str, shared: bool) -> list[str]:
    """Return the places below a benchmark's folder, for a reader."""
    shown = [f"{split}.jsonl"] if shared else []
    if subset is not None and (subset != "default" or not shared):
        shown += [f"{subset}/{split}.jsonl", f"{subset}.jsonl"]
    return shown


def _stems(folder: Path, subset: str | None, split: str, shared: bool) -> list[Path]:
    """Return the places in their order: file names without ending, or saved folders."""
    stems = [folder / split] if shared else []
    if subset is not None and _is_below(subset):
        stems += [folder / subset / split, folder / subset]
    return [*stems, folder] if shared else stems


def _is_below(name: str) -> bool:
    """Tell whether a name, taken as a path, stays in the folder that it is looked for in."""
    path = PurePath(name)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts


def _saved_split(folder: Path, split: str) -> Table | None:
    """Return a split of a folder that ``Dataset.save_to_disk`` wrote."""
    if not any((folder / name).is_file() for name in _SAVED):
        return None
    import datasets

    try:
        saved = datasets.load_from_disk(str(folder))
    except Exception as error:
        raise DataError(
            f"not readable as a saved dataset: {one_line(error)}", where=str(folder)
        ) from error
    if isinstance(saved, datasets.DatasetDict):
        if split not in saved:
            return None
        saved = saved[split]
    return Table(saved.to_list(), str(folder))
