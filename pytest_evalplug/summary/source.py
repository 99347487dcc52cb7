"""Where a summarizer comes from: a preset, a file, a conftest, a table in pyproject.toml."""

from __future__ import annotations

__all__ = ["find_summarizer", "make_summarizer"]

import importlib.util
import inspect
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_evalplug.errors import ConfigError, nearest, one_line
from pytest_evalplug.summary.presets import preset, preset_names
from pytest_evalplug.summary.summarizer import Summarizer
from pytest_evalplug.summary.variants import (
    CircularSummarizer,
    EvalScopeSummarizer,
    MultiFacetedSummarizer,
)

_TYPES: dict[str, type[Summarizer]] = {
    "Summarizer": Summarizer,
    "DefaultSummarizer": Summarizer,
    "CircularSummarizer": CircularSummarizer,
    "MultiFacetedSummarizer": MultiFacetedSummarizer,
    "EvalScopeSummarizer": EvalScopeSummarizer,
}
_FILES = (".py", ".toml", ".json")


def find_summarizer(given: str | None, conftests: Sequence[Any], table: Any) -> Summarizer | None:
    """Return the summarizer of the first source that has one.

    ``given`` is the path of a file, or a preset's name alone. ``conftests`` are modules with an
    attribute ``summarizer``, the nearest last; one that is neither a Summarizer nor a dict is the
    suite's own business. ``table`` is the one in pyproject.toml. Raises ConfigError for whatever is
    wrong.
    """
    if given:
        return _named(given)
    for conftest in reversed(conftests):
        if _is_ours(conftest.summarizer):
            return make_summarizer(conftest.summarizer, where=f"{conftest.__file__}: summarizer")
    if table is not None:
        return make_summarizer(table, where="[tool.evalplug.summarizer]")
    return None


def make_summarizer(config: Any, *, where: str) -> Summarizer:
    """Return the summarizer that a dict describes, ``type`` being a class or its name.

    A Summarizer, and a class of one, are taken as they are.
    """
    if isinstance(config, Summarizer):
        return config
    if isinstance(config, type):
        config = {"type": config}
    if not isinstance(config, Mapping):
        raise ConfigError(f"{one_line(repr(config), 60)} is no summarizer", where=where)
    options = dict(config)
    kind = _type(options.pop("type", Summarizer), where)
    known = list(inspect.signature(kind).parameters)
    for key in options:
        if key not in known:
            raise ConfigError(
                f"unknown key {key!r}", where=where, fix=nearest(str(key), ["type", *known])
            )
    try:
        return kind(**options)
    except ConfigError as error:
        raise ConfigError(error.what, where=f"{where}: {error.where}", fix=error.fix) from None
    except Exception as error:  # the class may be anybody's
        raise ConfigError(f"{kind.__name__}: {one_line(error)}", where=where) from error


def _type(kind: Any, where: str) -> type[Summarizer]:
    if isinstance(kind, type) and issubclass(kind, Summarizer):
        return kind
    if isinstance(kind, str) and kind in _TYPES:
        return _TYPES[kind]
    fix = nearest(kind, _TYPES) if isinstance(kind, str) else "Subclass DefaultSummarizer"
    raise ConfigError(f"type {kind!r} is no summarizer", where=where, fix=fix)


def _named(given: str) -> Summarizer:
    where, path = "--eval-summarizer", Path(given)
    if path.suffix in _FILES:
        if not path.is_file():
            raise ConfigError(f"there is no file {path}", where=where)
        return make_summarizer(_read(path), where=str(path))
    names = preset_names()
    if given not in names:
        fix = f"{nearest(path.name, names)}. Or give a file: {', '.join(_FILES)}"
        raise ConfigError(f"unknown preset {given!r}", where=where, fix=fix)
    return make_summarizer(preset(given), where=f"preset {given}")


def _read(path: Path) -> Any:
    """Return what a file says; a table ``summarizer`` in it, or all of it."""
    try:
        if path.suffix == ".py":
            return _module(path).summarizer
        content = _toml(path) if path.suffix == ".toml" else json.loads(path.read_bytes())
    except AttributeError as error:
        raise ConfigError(
            f"defines no summarizer ({error})", where=str(path), fix="Write summarizer = dict(...)"
        ) from None
    except Exception as error:  # a module may fail in any way
        raise ConfigError(f"can't be read: {one_line(error)}", where=str(path)) from error
    return content.get("summarizer", content) if isinstance(content, dict) else content


def _module(path: Path) -> Any:
    name = f"evalplug_summarizer_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def _toml(path: Path) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    with path.open("rb") as file:
        content: dict[str, Any] = tomllib.load(file)
    return content


def _is_ours(value: Any) -> bool:
    is_class = isinstance(value, type) and issubclass(value, Summarizer)
    return is_class or isinstance(value, (Summarizer, Mapping))
