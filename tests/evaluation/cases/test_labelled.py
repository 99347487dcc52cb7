from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_evalplug.evaluation.cases import KINDS, check_file, shipped_files

CASES_DIR = Path(
    os.environ.get("EVALPLUG_CASES_DIR", Path(__file__).resolve().parents[4] / "shared" / "cases")
)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "postprocessor"])
def test_all_labelled_cases_are_right(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "HF_TOKEN"):  # a program looks for them
        monkeypatch.setenv(name, "a secret")
    path = CASES_DIR / f"{kind}.jsonl"
    if not path.is_file():
        pytest.skip(f"no labelled cases at {path} (set EVALPLUG_CASES_DIR)")
    report = check_file(path)
    assert report.total > 10
    assert report.misses == []


@pytest.mark.parametrize("path", shipped_files(), ids=lambda path: path.stem)
def test_all_shipped_cases_are_right(path: Path) -> None:
    assert check_file(path).misses == []
