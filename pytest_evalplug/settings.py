"""``--eval-set`` and ``[tool.evalplug.benchmarks]``: what overrides a benchmark's own settings."""

from __future__ import annotations

__all__ = ["merged_settings", "parse_setting"]

import json
import re
from collections.abc import Mapping
from typing import Any

from pytest_evalplug.errors import ConfigError

# Lazy, so that a dotted name gives up to the field only what reaches into a table.
_SETTING = re.compile(r"(?P<name>.+?)\.(?P<field>(?:(?:generation|eval_cfg)\.)?[^.]+)")


def parse_setting(text: str) -> tuple[str, str, Any]:
    """Split ``BENCHMARK.FIELD=VALUE``; a benchmark's name may hold dots, a field may reach in."""
    target, _, value = text.partition("=")
    found = _SETTING.fullmatch(target) if "=" in text else None
    if not found:
        raise ConfigError(
            f"{text!r} is not BENCHMARK.FIELD=VALUE",
            where="--eval-set",
            fix="For example --eval-set gsm8k.few_shot_num=0",
        )
    return found["name"], found["field"], _literal(value)


def merged_settings(
    settings: list[tuple[str, str, Any]], tables: Mapping[str, Mapping[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Merge ``[tool.evalplug.benchmarks]`` with ``--eval-set``, which wins."""
    merged = {name: dict(table) for name, table in tables.items()}
    for name, key, value in settings:
        merged.setdefault(name, {})[key] = value
    return merged


def _literal(text: str) -> Any:
    """Read a JSON value; anything else is the text itself."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
