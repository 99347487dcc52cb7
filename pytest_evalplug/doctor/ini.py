"""Which file configures pytest here, and what it says of our options."""

from __future__ import annotations

__all__ = ["Ini", "find_ini", "ini_file"]

import configparser
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pytest_evalplug.doctor.check import Check, ok, problem
from pytest_evalplug.errors import one_line

_NAMES = (
    *("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini"),
    *("pyproject.toml", "tox.ini", "setup.cfg"),
)
"""As pytest looks for them; the first four count even where they are empty."""


class Ini(NamedTuple):
    """The file, and its options; ``fault`` says why it can't be read."""

    path: Path | None
    options: Mapping[str, Any]
    fault: str = ""


def find_ini(folder: Path) -> Ini:
    """Return what pytest takes when it is started in ``folder`` (absolute).

    That is the nearest file, here or in a folder above, that speaks of pytest; else the nearest
    ``pyproject.toml``.
    """
    silent: Path | None = None
    for base in (folder, *folder.parents):
        for name in _NAMES:
            path = base / name
            if not path.is_file():
                continue
            try:
                options = _options(path)
            except (OSError, ValueError, AttributeError) as error:
                return Ini(path, {}, one_line(error))
            if options is not None:
                return Ini(path, options)
            if name == "pyproject.toml":
                silent = silent or path
    return Ini(silent, {})


def ini_file(ini: Ini) -> Iterator[Check]:
    """Say which file it is: settings in another one do nothing."""
    if ini.fault:
        yield problem("ini file", f"{ini.path} can't be read: {ini.fault}", "Correct it")
    else:
        yield ok("ini file", str(ini.path or "none: options as on the command line only"))


def _options(path: Path) -> Mapping[str, Any] | None:
    """Return the options in a file, None if it does not speak of pytest.

    Raises OSError, ValueError, and AttributeError where a table is something else.
    """
    if path.suffix == ".toml":
        found = _toml_options(path)
    else:
        parser = configparser.ConfigParser(interpolation=None, strict=False, allow_no_value=True)
        try:
            parser.read(path, encoding="utf-8")
        except configparser.Error as error:
            raise ValueError(str(error)) from None
        section = "tool:pytest" if path.suffix == ".cfg" else "pytest"
        found = dict(parser[section]) if section in parser else None
    return {} if found is None and path.name in _NAMES[:4] else found


def _toml_options(path: Path) -> Mapping[str, Any] | None:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    table: Any = tomllib.loads(path.read_text(encoding="utf-8"))
    if path.name != "pyproject.toml":
        table = table.get("pytest")
    else:
        table = table.get("tool", {}).get("pytest") or None
        if table is not None:
            table = table.get("ini_options", table)
    return table if isinstance(table, Mapping) else None
