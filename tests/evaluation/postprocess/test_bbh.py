from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_evalplug.evaluation.postprocess.bbh import bbh_paper


def test_published_accuracy_of_all_subsets(data_dir: Path) -> None:
    folder = data_dir / "replies" / "bbh"
    published = json.loads((folder / "published_accuracy.json").read_text())["cot"]
    found = {}
    for path in sorted((folder / "cot").glob("*.jsonl")):
        rows = [json.loads(x) for x in path.read_text(encoding="utf-8").split("\n") if x]
        right = sum(bbh_paper(row["prediction"]) == row["reference"] for row in rows)
        found[path.stem] = 100 * right / len(rows)
    assert len(found) == 27
    assert found == pytest.approx(published)


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("So the answer is (B).", "(B)"),
        ("the answer is 1. So the answer is 2", "2"),
        ("So the answer is ] ].", "] ]"),
        ("The answer is B.", "The answer is B"),
        ("", ""),
    ],
)
def test_rule(reply: str, answer: str) -> None:
    assert bbh_paper(reply) == answer
