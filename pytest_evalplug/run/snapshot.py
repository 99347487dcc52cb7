"""What a run was started with, kept beside its results and free of secrets."""

from __future__ import annotations

__all__ = ["read_object", "read_snapshot", "write_snapshot"]

import itertools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_evalplug.errors import DataError
from pytest_evalplug.masking import Secrets, mask, mask_settings
from pytest_evalplug.run.directory import RunDirectory, timestamp
from pytest_evalplug.run.jsonio import dumps, write_atomic


def write_snapshot(run: RunDirectory, config: Mapping[str, Any]) -> Path:
    """Write ``config``, masked, as ``configs/config_<time>.json``: one for every session.

    Callables become their names, other objects their text.
    """
    masked = json.loads(dumps({name: _masked(name, value) for name, value in config.items()}))
    text = Secrets(config).hide_echo(json.dumps(masked, indent=2).encode()).decode() + "\n"
    earlier = [path.stem[len("config_") :][:15] for path in _snapshots(run)]
    time = max([timestamp(), *earlier])  # the clock may have been set back
    path = run.configs / f"config_{time}.json"
    for number in itertools.count(2):
        if not path.exists():
            break
        path = run.configs / f"config_{time}~{number:03}.json"  # sorts behind the first
    write_atomic(path, text)
    return path


def _masked(name: str, value: Any) -> Any:
    """Mask a part of the configuration; what benchmarks are set to comes back with ``--reuse``."""
    if name == "overrides" and isinstance(value, Mapping):
        return {benchmark: mask_settings(table) for benchmark, table in value.items()}
    if name == "settings" and isinstance(value, (list, tuple)):
        return [_masked_setting(setting) for setting in value]
    return mask(value, name)


def _masked_setting(setting: Any) -> Any:
    match setting:
        case [benchmark, str(key), value]:
            return [benchmark, key, mask_settings(value, key)]
    return mask(setting)


def _snapshots(run: RunDirectory) -> list[Path]:
    return sorted(run.configs.glob("config_*.json"))


def has_snapshot(run: RunDirectory) -> bool:
    """Tell whether the run has begun: nothing is asked before a snapshot is written."""
    return bool(_snapshots(run))


def read_snapshot(run: RunDirectory, damaged: list[str] | None = None) -> dict[str, Any]:
    """Return the configuration of the latest session that asked a model; secrets read as ``***``.

    Raises DataError if the run has none or it is damaged. One that is damaged is passed over
    where there is another, and ``damaged`` gets a line that says so.
    """
    paths = _snapshots(run)
    fix = "Start a new run, or name the models with --model"
    if not paths:
        raise DataError("no configuration snapshot", where=str(run.configs), fix=fix)
    configs: list[dict[str, Any]] = []
    errors: list[DataError] = []
    for path in reversed(paths):
        try:
            configs.append(read_object(path, fix=fix))
        except DataError as error:
            errors.append(error)
            continue
        if configs[-1].get("stage") != "eval":
            break
    if not configs:
        raise errors[0]
    if damaged is not None:
        damaged += [f"{error.where}: an earlier snapshot was taken" for error in errors]
    return configs[-1] if configs[-1].get("stage") != "eval" else configs[0]


def read_object(path: Path, *, fix: str = "") -> dict[str, Any]:
    """Return a file's JSON object. Raises DataError, with ``fix``, if it holds anything else."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"damaged: {error}", where=str(path), fix=fix) from error
    if not isinstance(found, dict):
        raise DataError("damaged: no JSON object", where=str(path), fix=fix)
    return found
