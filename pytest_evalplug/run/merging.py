"""Shards of a run become one run directory."""

from __future__ import annotations

__all__ = ["Shard", "find_shards", "join_shards"]

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pytest_evalplug.errors import ConfigError, DataError
from pytest_evalplug.run.directory import RunDirectory, refuse_links
from pytest_evalplug.run.jsonio import dumps, json_object, write_atomic
from pytest_evalplug.run.merged import MergedFile
from pytest_evalplug.run.records import index_order
from pytest_evalplug.run.snapshot import read_object, read_snapshot, write_snapshot

_ALIKE = {
    "eval_mode": "--eval-mode",
    "stage": "--mode",
    "limit": "--limit",
    "subsets": "--subset",
    "overrides": "benchmark settings",
    "settings": "--eval-set",
    "judge": "--judge-model",
    "dump_extract_rate": "--dump-extract-rate",
    "dump_res_length": "--dump-res-length",
    "dump_eval_details": "--dump-eval-details",
}
"""What shards of one run were started with alike, as a snapshot calls it."""


@dataclass(frozen=True)
class Shard:
    """A run that was made with ``--eval-shard``; nothing in it is ever changed."""

    path: Path

    @cached_property
    def snapshot(self) -> dict[str, Any]:
        """The configuration that the shard was made with."""
        return read_snapshot(RunDirectory.attach(self.path))

    @property
    def place(self) -> tuple[int, int]:
        """Which of how many parts this is, from 1. Raises DataError if it is none."""
        shard = self.snapshot.get("shard")
        if not shard:
            raise DataError(
                "not a shard of a run: it was made without --eval-shard", where=str(self.path)
            )
        match shard:
            case [int(number), int(count)] if 1 <= number <= count:
                return number, count
        raise DataError(f"damaged: shard is {dumps(shard)}", where=str(self.path / "configs"))

    @cached_property
    def models(self) -> dict[str, dict[str, Any]]:
        """Model -> what identifies it, as it was written. Raises DataError if that is damaged."""
        files = sorted((self.path / "configs" / "models").glob("*.json"))
        return {file.stem: read_object(file) for file in files}


def find_shards(folders: Sequence[Path]) -> list[Shard]:
    """Return the runs that the folders are, or hold at any depth, in the order of their parts.

    Raises DataError for a folder without any, ConfigError for runs that don't belong together.
    """
    found: list[Shard] = []
    for folder in folders:
        runs = {file.parent.parent for file in folder.rglob("configs/config_*.json")}
        if not runs:
            raise DataError("no run directory", where=str(folder))
        found += map(Shard, runs)
    for shard in found:
        refuse_links(shard.path)
    shards = sorted({shard.path.resolve(): shard for shard in found}.values(), key=_order)
    for shard in shards[1:]:
        _check_alike(shards[0], shard)
    return shards


def _order(shard: Shard) -> tuple[int, str]:
    return shard.place[0], str(shard.path)


def _check_alike(one: Shard, other: Shard) -> None:
    where = f"{one.path} and {other.path}"
    if one.place[1] != other.place[1]:
        parts = " and ".join(f"{i}/{n}" for i, n in (one.place, other.place))
        raise ConfigError(f"shards of different splits, {parts}", where=where)
    for key, option in _ALIKE.items():
        mine, theirs = one.snapshot.get(key), other.snapshot.get(key)
        if mine != theirs:
            raise ConfigError(
                f"made with different settings: {option} was {dumps(mine)} and {dumps(theirs)}",
                where=where,
            )
    for name in one.models.keys() & other.models.keys():
        if _identity(one.models[name]) != _identity(other.models[name]):
            raise ConfigError(f"made with different models of the name {name!r}", where=where)


def _identity(model: Mapping[str, Any]) -> dict[str, Any]:
    """Return what predictions depend on; the options as given may name another server."""
    return {name: value for name, value in model.items() if name not in ("settings", "price")}


def join_shards(shards: Sequence[Shard], target: RunDirectory, arguments: Sequence[str]) -> None:
    """Copy into ``target`` what the shards have predicted and judged, and their verdicts.

    Raises ConfigError if two of them have different replies to one sample; DataError if a file is
    damaged.
    """
    for folder in ("predictions", "judgements"):
        files: dict[str, list[Path]] = {}
        for shard in shards:
            for path in sorted((shard.path / folder).glob("*/*.json")):
                files.setdefault(str(path.relative_to(shard.path)), []).append(path)
        for name, paths in files.items():
            records = _union(paths, only_one=folder == "predictions")
            write_atomic(target.path / name, json_object(records))
    for number, shard in enumerate(shards):
        for journal in sorted((shard.path / "journal").glob("*-*.jsonl")):
            kind, _, worker = journal.name.partition("-")
            shutil.copyfile(journal, target.journal / f"{kind}-shard{number}-{worker}")
        for name, model in shard.models.items():
            write_atomic(target.configs / "models" / f"{name}.json", dumps(model))
        for file in sorted((shard.path / "configs" / "judges").glob("*.json")):
            write_atomic(target.configs / "judges" / file.name, dumps(read_object(file)))
    merged = [{"run": shard.path.name, "shard": list(shard.place)} for shard in shards]
    together = {"arguments": list(arguments), "shard": None, "reuse": None, "merged": merged}
    write_snapshot(target, shards[0].snapshot | together)


def _union(paths: Sequence[Path], *, only_one: bool) -> Iterator[tuple[str, str]]:
    """Yield index and JSON text of every record; a reply comes before an error.

    ``only_one`` refuses two replies of one index: a judge may have been asked the same twice.
    """
    files = [MergedFile(path) for path in paths]
    holders: dict[str, list[int]] = {}
    for number, file in enumerate(files):
        for index in file:
            holders.setdefault(index, []).append(number)
    for index in sorted(holders, key=index_order):
        found = [(paths[n], files[n]) for n in holders[index]]
        yield index, _text(index, found, only_one)


def _text(index: str, holders: Sequence[tuple[Path, MergedFile]], only_one: bool) -> str:
    if len(holders) == 1:
        return holders[0][1].text(index)
    replied = [(path, file) for path, file in holders if "prediction" in file[index]]
    if only_one and len({dumps(_reply(file[index])) for _, file in replied}) > 1:
        raise ConfigError(
            f"sample {index} has different replies",
            where=" and ".join(str(path) for path, _ in replied),
            fix="Leave one of the runs out",
        )
    return (replied or holders)[0][1].text(index)


def _reply(record: Mapping[str, Any]) -> Any:
    return record["prediction"], record.get("key")
