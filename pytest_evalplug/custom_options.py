"""What ``--eval-custom``, ``--eval-custom-type`` and ``--eval-custom-infer`` say together."""

from __future__ import annotations

__all__ = ["find_all", "mode_of", "rooted"]

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from pytest_evalplug.dataset.base import EvalMode
from pytest_evalplug.dataset.custom import CustomData, find_custom, split_name
from pytest_evalplug.errors import ConfigError


def rooted(text: str, base: Path) -> str:
    """Return ``[NAME=]PATH`` with an absolute path; a relative one starts from ``base``."""
    name, place = split_name(text)
    path = os.path.normpath(base / Path(place).expanduser())
    return f"{name}={path}" if name else path


def find_all(value: Mapping[str, Any], root: Path) -> tuple[CustomData, ...]:
    """Return the user's own data, all of it readable, under names of their own.

    ``value`` holds the options by name, ``root`` is the project's folder, which is no data.
    Raises ConfigError, or DataError with file and line.
    """
    if not value["custom"]:
        name = "type" if value["custom_type"] else "infer"
        raise ConfigError(
            "there is no data that it could speak of",
            where=f"--eval-custom-{name}",
            fix="Add --eval-custom PATH",
        )
    known: dict[str, CustomData] = {}
    for text in value["custom"]:
        path = Path(split_name(text)[1])
        if path == root or path in root.parents:
            raise ConfigError(
                f"the folder {path} holds the whole project",
                where="--eval-custom",
                fix="Name a folder that holds data only",
            )
        for other in known.values():
            if path == other.path or path in other.path.parents or other.path in path.parents:
                raise ConfigError(
                    f"{path} and {other.path} hold the same data",
                    where="--eval-custom",
                    fix="Give it once",
                )
        data = find_custom(text, value["custom_type"])
        namesake = known.setdefault(data.name, data)
        if namesake is not data:
            raise ConfigError(
                f"{namesake.path} and {data.path} would both be the benchmark {data.name!r}",
                where="--eval-custom",
                fix="Name one of them: --eval-custom NAME=PATH",
            )
    return tuple(known.values())


def mode_of(value: Mapping[str, Any], custom: Sequence[CustomData], given: bool) -> EvalMode:
    """Return the run's one mode: what options say, else what the data's ``.meta.json`` asks for.

    ``given``: ``--eval-mode`` does. Raises ConfigError where two are meant, or one can't be.
    """
    mode, infer = value["mode"], value["custom_infer"]
    if infer and given and infer != mode:
        raise ConfigError(
            "a run has one mode, and these are two",
            where=f"--eval-custom-infer={infer} with --eval-mode={mode}",
            fix="Drop one of the two",
        )
    asked = {data.infer: data for data in custom if data.infer}
    if not (infer or given) and len(asked) > 1:
        raise ConfigError(
            "a run has one mode, and these files ask for two: "
            + " and ".join(f"{infer} in {data.path}" for infer, data in asked.items()),
            where="--eval-custom",
            fix="Give --eval-custom-infer",
        )
    if not given:
        mode = infer or next(iter(asked), mode)
    for data in custom:
        if mode != "gen" and data.kind == "qa":
            raise ConfigError(
                f"{data.path} has free answers (qa), nothing to compare",
                where=f"--eval-custom with {mode} mode",
                fix="Ask for them with --eval-mode=gen",
            )
    return cast(EvalMode, mode)
