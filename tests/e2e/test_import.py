"""Another tool's replies, scored by a benchmark of ours."""

from __future__ import annotations

import json
from pathlib import Path

from pytest_evalplug.cli import main

from .project import Project

ROOT = Path(__file__).parents[2]
OPENCOMPASS = ROOT / "tests/run/foreign/data/opencompass/20261130_120000"


def test_imported_replies_are_scored_for_their_own_questions(project: Project) -> None:
    lines = (ROOT / "benchmarks/data/demo_math/test.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines[:7]]
    data = [{"q": row["question"], "a": row["answer"]} for row in rows]
    data[2], data[4] = data[4], data[2]  # rows that the tool had elsewhere
    project.data(data)
    assert main(["import", str(OPENCOMPASS), "--dataset", "with_details=quiz"]) == 0
    [run] = project.runs
    scored = project.run("--reuse", run.name, "--mode", "eval")
    assert scored.ret == 1
    # OpenCompass calls 0, 2 and 4 right
    assert scored.outcomes == {"passed": 1, "wrong": 3, "errors": 3}
    assert scored.out.count("the imported reply of chat is to another question") >= 2
    assert scored.path == run
    result = scored.result(model="chat")
    verdicts = [detail["correct"] for detail in result["details"]]
    assert verdicts == [True, False, None, False, None, False, None]
    assert "quiz chat: 6 replies were imported: they are to another tool's prompts" in scored.out
    assert "no saved prediction of chat" in result["details"][6]["error"]
    assert project.asked() == []
