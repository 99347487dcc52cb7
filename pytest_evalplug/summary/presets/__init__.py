"""Ready summaries, one module each with a ``summarizer`` dict; each may be copied and changed."""

from __future__ import annotations

__all__ = ["preset", "preset_names", "with_presets"]

import importlib
import pkgutil
from collections.abc import Sequence
from typing import Any

from pytest_evalplug.errors import ConfigError, nearest


def preset_names() -> list[str]:
    """Return the names of all presets."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def preset(name: str, *, where: str = "") -> dict[str, Any]:
    """Return a preset's ``summarizer``. Raises ConfigError with the nearest names."""
    names = preset_names()
    if name not in names:
        raise ConfigError(f"unknown preset {name!r}", where=where, fix=nearest(name, names))
    found: dict[str, Any] = importlib.import_module(f"{__name__}.{name}").summarizer
    return found


def with_presets(groups: Any, *, where: str = "summary_groups") -> Any:
    """Return ``groups`` with the groups of a preset in the place of its name."""
    if not isinstance(groups, Sequence) or isinstance(groups, str):
        return groups
    found: list[Any] = []
    for number, group in enumerate(groups):
        if isinstance(group, str):
            found += preset(group, where=f"{where}[{number}]").get("summary_groups", ())
        else:
            found.append(group)
    return found
