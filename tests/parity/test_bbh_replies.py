"""Published replies to BBH, judged as lm-evaluation-harness does (make_bbh_replies.py)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pytest_evalplug.evaluation.evaluators.accuracy import AccEvaluator
from pytest_evalplug.evaluation.postprocess.bbh import bbh_paper

THEIRS: dict[str, str] = json.loads(
    Path(__file__).with_name("bbh_replies.json").read_text(encoding="utf-8")
)


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


def test_verdicts_are_those_of_lm_evaluation_harness(data_dir: Path) -> None:
    evaluator = AccEvaluator()
    different = []
    for subset, verdicts in THEIRS.items():
        replies = rows(data_dir / f"replies/bbh/cot/{subset}.jsonl")
        references = rows(data_dir / f"bbh/{subset}/test.jsonl")
        for row, theirs in enumerate(verdicts):
            pred = bbh_paper(replies[row]["prediction"])
            score = evaluator.score_sample(pred, references[row]["target"])
            if score["correct"] != (theirs == "1"):
                different.append((subset, row, score["correct"]))
    assert sum(map(len, THEIRS.values())) == 6511
    # these replies end without a full stop, and the harness takes their last sign for one
    assert different == [("dyck_languages", row, True) for row in (93, 125, 134)]
