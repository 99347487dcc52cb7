"""Whether the values of a table in a configuration file can be what they stand for."""

from __future__ import annotations

__all__ = ["check_values"]

import math
from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pytest_evalplug.errors import ConfigError


def check_values(
    values: Mapping[str, Any], hints: Mapping[str, Any], where: str, prefix: str = ""
) -> None:
    """Raise ConfigError for the first of ``values`` that is not of its type, or out of range."""
    for key, hint in hints.items():
        if key in values and not (_fits(values[key], hint) and _in_range(key, values[key])):
            shown = "of the wrong type" if hint in _TABLES else repr(values[key])  # may be secret
            least = f" of at least {_LEAST[key]}" if key in _LEAST else ""
            raise ConfigError(
                f"{prefix}{key} is {shown}",
                where=where,
                fix=f"It must be {_described(hint)}{least}",
            )


_LEAST = {
    **{"batch_size": 1, "max_length": 1, "concurrency": 1, "max_retries": 0, "timeout": 0.001},
    **{"max_tokens": 1, "temperature": 0},
    **{"requests_per_minute": 1, "tokens_per_minute": 1, "replicas": 1, "num_gpus": 0},
    **{"prompt": 0, "completion": 0, "cached_prompt": 0},
}
_TABLES = (dict[str, str], dict[str, Any])


def _fits(value: Any, hint: Any) -> bool:
    if hint in (list[str], tuple[str, ...]):
        return isinstance(value, get_origin(hint)) and all(isinstance(v, str) for v in value)
    if hint == dict[str, str]:
        return isinstance(value, dict) and all(isinstance(v, str) for v in value.values())
    if get_origin(hint) is Literal:
        return value in get_args(hint)
    if get_origin(hint) in (Union, UnionType):
        return any(_fits(value, part) for part in get_args(hint))
    if hint in (int, float):
        return type(value) in (int, hint)
    return isinstance(value, get_origin(hint) or hint)


def _in_range(key: str, value: Any) -> bool:
    return key not in _LEAST or value is None or _LEAST[key] <= value < math.inf


def _described(hint: Any) -> str:
    if get_origin(hint) is Literal:
        return " or ".join(map(repr, get_args(hint)))
    if get_origin(hint) in (Union, UnionType):
        parts = [_described(part) for part in get_args(hint) if part is not NoneType]
        return " or ".join(dict.fromkeys(parts))
    if get_origin(hint) in (list, tuple):
        return "a list of strings"
    if hint == dict[str, str]:
        return "a table of strings"
    names = {str: "a string", int: "an integer", float: "a number", bool: "true or false"}
    return names.get(hint, "a table")
