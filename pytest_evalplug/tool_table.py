"""``[tool.evalplug]`` in pyproject.toml."""

from __future__ import annotations

__all__ = ["tool_table"]

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_evalplug.errors import ConfigError, nearest

_KNOWN = ("models", "benchmarks", "gates", "summarizer")
_OF_TABLES = ("models", "benchmarks")


def tool_table(path: Path) -> Mapping[str, Any]:
    """Return the table of the file ``path``, empty if there is none; its form is checked.

    Raises ConfigError.
    """
    if not path.is_file():
        return {}
    table = _checked_table(_read(path), "tool.evalplug", path)
    for key, value in table.items():
        name = f"tool.evalplug.{key}"
        if key not in _KNOWN:
            raise ConfigError(
                f"unknown key {key!r} in [tool.evalplug]", where=str(path), fix=nearest(key, _KNOWN)
            )
        if key == "gates":
            _check_texts(value, name, path)
            continue
        entries = _checked_table(value, name, path)
        for inner, entry in entries.items() if key in _OF_TABLES else ():
            _checked_table(entry, f"{name}.{inner}", path)
    return table


def _read(path: Path) -> Any:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        with path.open("rb") as file:
            return tomllib.load(file).get("tool", {}).get("evalplug", {})
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"not valid TOML ({error})", where=str(path)) from None


def _checked_table(value: Any, name: str, path: Path) -> dict[str, Any]:
    if not isinstance(value, dict):
        # its value isn't shown: it may be a key that stands in the wrong place
        raise ConfigError(f"{name} is no table", where=str(path), fix=f"Write it as [{name}]")
    return value


def _check_texts(value: Any, name: str, path: Path) -> None:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise ConfigError(
            f"{name} is no list of texts", where=str(path), fix="Write ['...', '...']"
        )
