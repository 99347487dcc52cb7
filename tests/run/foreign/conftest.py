"""What the tools themselves wrote; see make_foreign.py."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

DATA = Path(__file__).with_name("data")


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.just(10**400)
    | st.floats()
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)
"""Whatever a file may hold in the place of what we know."""


@pytest.fixture
def opencompass(tmp_path: Path) -> Path:
    """A run folder of OpenCompass, to be read or damaged."""
    run = Path(shutil.copytree(DATA / "opencompass", tmp_path / "opencompass"))
    return run / "20261130_120000"


@pytest.fixture
def lm_eval(tmp_path: Path) -> Path:
    """An output folder of lm-eval, likewise."""
    return Path(shutil.copytree(DATA / "lm_eval", tmp_path / "lm_eval"))
