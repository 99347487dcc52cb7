from __future__ import annotations

import json
from pathlib import Path

from pytest_evalplug.wire import Manifest, Part

PART = Part(
    benchmark="quiz",
    subset="easy",
    dataset="quiz-easy",
    model=None,
    version="abc123",
    subsets=["easy", "hard"],
    indices=["0", "1"],
    sample_ids=["easy-0", "easy-1"],
    available=9,
)
EMPTY = Part("quiz", "hard", "quiz-hard", "m", "-", ["easy", "hard"], problem="no \ud800 data")


def test_a_manifest_goes_through_json() -> None:
    manifest = Manifest([PART, EMPTY], {"quiz": ["test_quiz", "/x/test_quiz.py", "/x", "Quiz"]})
    assert Manifest.from_wire(json.loads(json.dumps(manifest.to_wire()))) == manifest


def test_a_manifest_goes_through_a_file(tmp_path: Path) -> None:
    manifest = Manifest([PART, EMPTY], {})
    manifest.write(tmp_path / "manifest.json")
    assert Manifest.read(tmp_path / "manifest.json") == manifest


def test_no_file_is_an_empty_manifest(tmp_path: Path) -> None:
    assert Manifest.read(tmp_path / "none.json") == Manifest()
