"""What a run was started with, kept beside its results and free of secrets."""

from __future__ import annotations

__all__ = ["read_object", "read_snapshot", "write_snapshot"]

import itertools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_evalplug.errors import DataError
from pytest_evalplug.masking import mask
from pytest_evalplug.run.directory import RunDirectory, timestamp
from pytest_evalplug.run.jsonio import dumps, write_atomic


def write_snapshot(run: RunDirectory, config: Mapping[str, Any]) -> Path:
    """Write ``config``, masked, as ``configs/config_<time>.json``: one for every session.

    Callables become their names, other objects their text.
    """
    text = json.dumps(json.loads(dumps(mask(config))), indent=2) + "\n"
    path = run.configs / f"config_{timestamp()}.json"
    for number in itertools.count(2):
        if not path.exists():
            break
        path = run.configs / f"config_{timestamp()}~{number:03}.json"  # sorts behind the first
    write_atomic(path, text)
    return path


def read_snapshot(run: RunDirectory) -> dict[str, Any]:
    """Return the configuration of the latest session that asked a model; secrets read as ``***``.

    Raises DataError if the run has none or it is damaged.
    """
    paths = sorted(run.configs.glob("config_*.json"))
    fix = "Start a new run, or name the models with --model"
    if not paths:
        raise DataError("no configuration snapshot", where=str(run.configs), fix=fix)
    configs: list[dict[str, Any]] = []
    for path in reversed(paths):
        configs.append(read_object(path, fix=fix))
        if configs[-1].get("stage") != "eval":
            return configs[-1]
    return configs[0]


def read_object(path: Path, *, fix: str = "") -> dict[str, Any]:
    """Return a file's JSON object. Raises DataError, with ``fix``, if it holds anything else."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"damaged: {error}", where=str(path), fix=fix) from error
    if not isinstance(found, dict):
        raise DataError("damaged: no JSON object", where=str(path), fix=fix)
    return found
