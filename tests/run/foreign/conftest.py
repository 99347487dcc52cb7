"""What the tools themselves wrote; see make_foreign.py."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

DATA = Path(__file__).with_name("data")


@pytest.fixture
def opencompass(tmp_path: Path) -> Path:
    """A run folder of OpenCompass, to be read or damaged."""
    run = Path(shutil.copytree(DATA / "opencompass", tmp_path / "opencompass"))
    return run / "20261130_120000"


@pytest.fixture
def lm_eval(tmp_path: Path) -> Path:
    """An output folder of lm-eval, likewise."""
    return Path(shutil.copytree(DATA / "lm_eval", tmp_path / "lm_eval"))
