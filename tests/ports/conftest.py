"""The texts that teach other tools' forms, and the changes that our guide lists."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

# An in-process run forgets the modules that it imported first: these stay the same in all runs.
import pytest_evalplug.evaluation.config
import pytest_evalplug.finish
import pytest_evalplug.session  # noqa: F401

ROOT = Path(__file__).resolve().parents[2]
SEEDS = Path(os.environ.get("EVALPLUG_SEEDS_DIR", ROOT.parent / "shared" / "seeds"))


@pytest.fixture(scope="session")
def seed() -> Callable[[str], str]:
    """Return a reader of those texts by the start of their names; skips where they are absent."""

    def read(start: str) -> str:
        found = sorted(SEEDS.glob(f"{start}*.txt"))
        if not found:
            pytest.skip(f"no text {start}*.txt in {SEEDS} (set EVALPLUG_SEEDS_DIR)")
        return found[0].read_text(encoding="utf-8")

    return read


@pytest.fixture(scope="session")
def moved() -> Callable[[str, str], str]:
    """Return what rewrites code by the table of the guide's section, and by nothing else."""

    def rewrite(code: str, section: str) -> str:
        guide = (ROOT / "docs" / "guides" / "moving.md").read_text(encoding="utf-8")
        (text,) = re.findall(rf"^## {section}\n(.*?)(?=^## |\Z)", guide, re.MULTILINE | re.DOTALL)
        (table,) = re.findall(r"^\| theirs \| ours \|\n((?:\|.*\n)+)", text, re.MULTILINE)
        changes = re.findall(r"^\| `(.+?)` \| `(.+?)` \|$", table, re.MULTILINE)
        assert len(changes) > 4
        for theirs, ours in changes:
            code = code.replace(theirs, ours)
        return code

    return rewrite
