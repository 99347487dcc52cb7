from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_evalplug.errors import ConfigError
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


def part(subset: str, *indices: str, available: int = 9) -> Part:
    return Part(
        *("quiz", subset, f"quiz-{subset}", None, "v", ["easy", "hard"]),
        indices=list(indices),
        sample_ids=[f"id{index}" for index in indices],
        available=available,
    )


def test_shards_are_joined_in_the_order_of_collection() -> None:
    modules = {"first": ["a"], "quiz": ["b"]}
    one = Manifest([part("hard", "2", "10")], modules)
    two = Manifest([part("easy", "1"), part("hard", "3", "2")], modules)
    joined = Manifest.joined([one, two])
    assert [p.subset for p in joined.parts] == ["easy", "hard"]
    assert joined.parts[1].indices == ["2", "3", "10"]
    assert joined.parts[1].sample_ids == ["id2", "id3", "id10"]
    assert joined.modules == modules
    assert one.parts[0].indices == ["2", "10"]


def test_what_one_shard_lacks_the_others_may_have() -> None:
    lacking = Part("quiz", "easy", "quiz-easy", None, "-", ["easy", "hard"], problem="no data")
    modules = {"quiz": ["b"]}
    parts = [Manifest([lacking], modules), Manifest([part("easy", "1")], modules)]
    assert Manifest.joined(parts).parts == [part("easy", "1")]
    assert Manifest.joined(parts[:1]).parts == [lacking]


def test_shards_of_other_data_are_refused() -> None:
    parts = [
        Manifest([part("easy", i, available=n)], {"quiz": []}) for i, n in (("1", 2), ("2", 3))
    ]
    with pytest.raises(ConfigError, match="quiz-easy: shards have different prompts or data"):
        Manifest.joined(parts)
