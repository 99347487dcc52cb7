"""What docs/limits.md shows can be typed."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from pytest_evalplug.model.spec import resolve_model
from pytest_evalplug.option_table import OPTIONS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TEXT = (Path(__file__).parents[2] / "docs" / "limits.md").read_text(encoding="utf-8")


def test_the_tables_are_models() -> None:
    found = re.findall(r"^    (\[tool.*\n(?:    .*\n)+)", TEXT, re.MULTILINE)
    assert len(found) == 2
    for text in found:
        tables = tomllib.loads(text)["tool"]["evalplug"]["models"]
        assert all(resolve_model(name, tables) for name in tables)


def test_the_options_are_there_and_take_these_values() -> None:
    options = {option.flag: option for option in OPTIONS}
    given = re.findall(r"(--eval-[\w-]+)=(\S+)", TEXT)
    assert {flag for flag, _ in given} == {
        "--eval-max-tokens",
        "--eval-max-cost",
        "--eval-sample-timeout",
    }
    for flag, value in given:
        assert options[flag].parse(value)
