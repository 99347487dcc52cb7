"""Arguments picked by name from what a run has."""

from __future__ import annotations

__all__ = ["asks_for", "pick_arguments", "to_columns"]

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pytest_evalplug.errors import ConfigError, nearest

_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def to_columns(records: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Turn records into columns of equal length; a key that a record lacks is ``None`` there."""
    names = dict.fromkeys(name for record in records for name in record)
    return {name: [record.get(name) for record in records] for name in names}


def asks_for(function: Callable[..., Any], name: str) -> bool:
    """Tell whether ``function`` has a parameter called ``name``."""
    return name in inspect.signature(function).parameters


def pick_arguments(
    function: Callable[..., Any], available: Mapping[str, Any], *, where: str = ""
) -> dict[str, Any]:
    """Return the entries of ``available`` that ``function`` has parameters for.

    Raises ConfigError for a parameter without a default that is not available (naming it and
    listing what there is), and for ``*args``/``**kwargs``, which name nothing.
    """
    name = getattr(function, "__qualname__", repr(function))
    arguments = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind not in _BY_NAME:
            raise ConfigError(
                f"{name}() takes {parameter}, but its arguments are picked by name",
                where=where,
                fix="Declare each argument that it reads.",
            )
        if parameter.name in available:
            arguments[parameter.name] = available[parameter.name]
        elif parameter.default is parameter.empty:
            raise ConfigError(
                f"{name}() asks for {parameter.name!r}, which this run does not have",
                where=where,
                fix=nearest(parameter.name, available),
            )
    return arguments
