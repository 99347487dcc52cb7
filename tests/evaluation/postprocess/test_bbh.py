from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_evalplug.evaluation.postprocess.bbh import (
    bbh_freeform,
    bbh_mcq,
    bbh_paper,
)


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


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("So the answer is **no**.", "No"),
        ("The answer is True. I hope it is correct.", "True"),
        ("the answer is valid. No: the answer is Invalid", "invalid"),
        ("So the answer is -1,200.", "-1200"),
        ("Sorted: the answer is Ant, bee,  cat.", "ant bee cat"),
        ("So the answer is ] ] >.", "] ] >"),
        ("The answer is not True.", ""),
        ("Let us see.\n\nYes", "Yes"),
        ("ant bee cat dog", "ant bee cat dog"),
        ("Let us think about this more.", ""),
        ("<think>the answer is 5", ""),
        ("False", "False"),
        ("The answer is True or False.", "true or false"),
        ("yes/no", "yes/no"),
        ("The answer is no and nothing else.", "No"),
        ("", ""),
    ],
)
def test_freeform(reply: str, answer: str) -> None:
    assert bbh_freeform(reply) == answer


@pytest.mark.parametrize("rule", [bbh_mcq, bbh_freeform])
def test_ours_agree_with_the_paper_s_verdicts(rule: Callable[[str], str], data_dir: Path) -> None:
    rows = agreed = 0
    for path in sorted((data_dir / "replies/bbh/cot").glob("*.jsonl")):
        for row in map(json.loads, filter(None, path.read_text(encoding="utf-8").split("\n"))):
            lettered = re.fullmatch(r"\([A-Z]\)", row["reference"]) is not None
            if lettered == (rule is bbh_mcq):
                published = bbh_paper(row["prediction"]) == row["reference"]
                found = rule(row["prediction"])
                rows += 1
                agreed += (found != "" and found == rule(row["reference"])) == published
    assert agreed == rows == (4071 if rule is bbh_mcq else 2440)
