"""``[tool.evalplug]`` in pyproject.toml."""

from __future__ import annotations

__all__ = ["mistakes", "read_table", "tool_table"]

import sys
from collections.abc import Iterator, Mapping
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
    table = read_table(path)
    for error in mistakes(table, path):
        raise error
    return table


def mistakes(table: Mapping[str, Any], path: Path) -> Iterator[ConfigError]:
    """Yield what is wrong with the form of the table of the file ``path``."""
    for key, value in table.items():
        name = f"tool.evalplug.{key}"
        if key not in _KNOWN:
            yield ConfigError(
                f"unknown key {key!r} in [tool.evalplug]", where=str(path), fix=nearest(key, _KNOWN)
            )
        elif key == "gates":
            if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
                yield ConfigError(
                    f"{name} is no list of texts", where=str(path), fix="Write ['...', '...']"
                )
        elif not isinstance(value, dict):
            yield _no_table(name, path)
        elif key in _OF_TABLES:
            for inner, entry in value.items():
                if not isinstance(entry, dict):
                    yield _no_table(f"{name}.{inner}", path)


def read_table(path: Path) -> dict[str, Any]:
    """Return the table of a file that is there. Raises ConfigError if it can't be read."""
    table = _read(path)
    if not isinstance(table, dict):
        raise _no_table("tool.evalplug", path)
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


def _no_table(name: str, path: Path) -> ConfigError:
    # its value isn't shown: it may be a key that stands in the wrong place
    return ConfigError(f"{name} is no table", where=str(path), fix=f"Write it as [{name}]")
