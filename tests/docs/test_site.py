"""The site is built, with every page and no dead link."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pytest_evalplug.dataset.catalogue import find_all

ROOT = Path(__file__).parents[2]


def test_the_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mkdocs")
    monkeypatch.setenv("EVALPLUG_DATA_DIR", str(tmp_path))  # no data at hand: it takes time
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    for folder in ("benchmarks", "zh/benchmarks"):
        made = {path.parent.name for path in (tmp_path / folder).glob("*/index.html")}
        assert made == {entry.name for entry in find_all()}
    page = (tmp_path / "benchmarks" / "demo_math" / "index.html").read_text(encoding="utf-8")
    assert "A farmer packs eggs in trays of 12." in page
    # what is loaded from elsewhere fails without a network, and says who reads
    for path in tmp_path.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert 'src="http' not in text
        assert 'rel="stylesheet" href="http' not in text
