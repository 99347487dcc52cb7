from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_evalplug.errors import ConfigError, DataError, EvalplugError
from pytest_evalplug.evaluation.config import resolve_evaluator
from pytest_evalplug.evaluation.evaluators.code import HumanEvalEvaluator, MBPPEvaluator
from pytest_evalplug.evaluation.sandbox import kinds
from pytest_evalplug.types import Sample

SQUARE = {
    "prompt": 'import math\n\ndef f(x):\n    """Square x."""\n',
    "entry_point": "f",
    "test": "def check(candidate):\n    assert candidate(2) == 4\n    assert candidate(3) == 9\n",
}


def judge(evaluator: Any, prediction: Any, metadata: dict[str, Any]) -> Any:
    score = evaluator.judge(
        {"prediction": prediction, "sample": Sample(input="", target="", metadata=metadata)}
    )
    assert score is not None
    return score


def rows(path: Path, step: int) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8", newline="\n") as lines:
        return [json.loads(line) for line in lines][::step]


@pytest.mark.parametrize(
    ("reply", "correct"),
    [
        ("    return x * x\n", True),
        ("Sure:\n```python\ndef f(x):\n    return x ** 2\n```\nDone.", True),
        ("    return x + x\n", False),
        ("    return None\n", False),
        ("I can't.", False),
        ("", False),
        (None, False),
    ],
)
def test_humaneval(reply: str | None, correct: bool) -> None:
    score = judge(HumanEvalEvaluator(), reply, SQUARE)
    assert score.metadata["correct"] is correct
    assert score.value == {"pass@1": float(correct)}


def test_the_detail_says_how_it_went() -> None:
    score = judge(HumanEvalEvaluator(), "    return x + x\n", SQUARE)
    assert score.metadata["status"] == "fail"
    assert score.metadata["sandbox"] in kinds.KINDS
    assert "assert candidate(3) == 9" in score.metadata["reason"]
    assert "return x + x" in score.extracted_prediction


def test_a_program_cannot_replace_the_prompts_helpers() -> None:
    task = {
        "prompt": "def poly(x):\n    return x - 4\n\ndef root():\n    '''Where poly is 0.'''\n",
        "entry_point": "root",
        "test": "def check(candidate):\n    assert poly(candidate()) == 0\n",
    }
    cheat = "def poly(x):\n    return 0\n\ndef root():\n    return 5\n"
    assert not judge(HumanEvalEvaluator(), cheat, task).metadata["correct"]
    assert judge(HumanEvalEvaluator(), "    return 4\n", task).metadata["correct"]


def test_mbpp() -> None:
    task = {
        "test_list": ["assert f(2) == 4", "assert f(3) == 9"],
        "test_setup_code": "",
        "challenge_test_list": ["assert f(0.5) == 0.25"],
    }
    integers = "def f(x):\r\n    return int(x * x)\r\n"
    assert judge(MBPPEvaluator(), integers, task).metadata["correct"]
    assert not judge(MBPPEvaluator(challenge_tests=True), integers, task).metadata["correct"]
    assert not judge(MBPPEvaluator(), "def f(x): return 4", task).metadata["correct"]


def test_real_solutions_pass_and_empty_ones_fail(data_dir: Path) -> None:
    evaluator = HumanEvalEvaluator()
    for row in rows(data_dir / "humaneval/test.jsonl", 20):
        assert judge(evaluator, row["canonical_solution"], row).metadata["correct"], row["task_id"]
        assert not judge(evaluator, "    return None\n", row).metadata["correct"], row["task_id"]
    for row in rows(data_dir / "mbpp/test.jsonl", 50):
        verdict = judge(MBPPEvaluator(challenge_tests=True), row["code"], row)
        assert verdict.metadata["correct"], row["task_id"]


def test_a_set_has_the_mean_in_percent() -> None:
    samples = [Sample(input="", target="", metadata=SQUARE) for _ in range(4)]
    replies = ["    return x * x\n", "", "    return x\n", "    return x ** 2\n"]
    result = HumanEvalEvaluator().score(replies, [""] * 4, sample=samples)
    assert result["pass@1"] == 50
    assert [detail["correct"] for detail in result["details"]] == [True, False, False, True]


@pytest.mark.parametrize("evaluator", ["humaneval", "mbpp"])
def test_data_without_tests_are_an_error(evaluator: str) -> None:
    with pytest.raises(DataError, match="metadata has no test"):
        judge(resolve_evaluator(evaluator), "def f(x): return x", {"entry_point": "f"})


def test_a_broken_sandbox_is_an_error_and_no_wrong_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "command", lambda kind: ["/bin/false"])
    monkeypatch.setattr("pytest_evalplug.evaluation.sandbox.runner.best_kind", lambda: "rlimits")
    with pytest.raises(EvalplugError, match="does not start"):
        judge(HumanEvalEvaluator(), "    return x * x\n", SQUARE)


def test_options_are_checked() -> None:
    with pytest.raises(ConfigError, match="timeout=0"):
        resolve_evaluator({"type": "humaneval", "timeout": 0})
