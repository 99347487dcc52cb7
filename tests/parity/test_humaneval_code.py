"""Verdicts on programs against the official HumanEval harness (make_humaneval_code.py)."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path

from pytest_evalplug.evaluation.evaluators.code import HumanEvalEvaluator
from pytest_evalplug.types import Sample

CASES = json.loads(Path(__file__).with_name("humaneval_code.json").read_text())[::2]


def test_the_official_harness_agrees(data_dir: Path) -> None:
    with (data_dir / "humaneval/test.jsonl").open(encoding="utf-8") as lines:
        rows = {row["task_id"]: row for row in map(json.loads, lines)}
    evaluator = HumanEvalEvaluator(timeout=3.0)

    async def passed(case: dict[str, str]) -> bool:
        row = rows[case["task_id"]]
        sample = Sample(input=row["prompt"], target="", metadata=row)
        # the whole program, so that nothing depends on how a completion is found in a reply
        program = row["prompt"] + case["completion"]
        return bool((await evaluator.score_sample(program, sample))["correct"])

    async def all_of_them() -> list[bool]:
        return await asyncio.gather(*map(passed, CASES))

    ours = asyncio.run(all_of_them())
    assert Counter(case["passed"] for case in CASES)[True] > 20
    assert [c for c, verdict in zip(CASES, ours, strict=True) if verdict != c["passed"]] == []
