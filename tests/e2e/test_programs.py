"""A benchmark whose answers are programs."""

from __future__ import annotations

import json

from .project import HEAD, Project

PROGRAMS = (
    HEAD
    + """
@register_benchmark(BenchmarkMeta(name="quiz", eval_cfg=dict(evaluator="humaneval")))
class Quiz(DefaultDataAdapter):
    def record_to_sample(self, record):
        metadata = dict(prompt=record["prompt"], entry_point="f", test=record["test"])
        return Sample(input=record["q"], target="-", metadata=metadata)
"""
)
PROMPT = 'def f(x):\n    """Square x."""\n'
TEST = "def check(candidate):\n    assert candidate(3) == 9\n"


def row(reply: str) -> dict[str, str]:
    return {"q": f"json {json.dumps(reply)}", "prompt": PROMPT, "test": TEST}


def test_programs_are_run_in_a_sandbox_that_is_named(
    project: Project, mode: tuple[str, ...]
) -> None:
    project.write("test_quiz.py", PROGRAMS)
    replies = [
        "    return x * x\n",
        "```python\ndef f(x):\n    return x ** 2\n```",
        "```python\ndef f(x):\n    return x\n```",
        "import os\nos._exit(0)",
        "I can't do that.",
    ]
    project.data(map(row, replies))
    run = project.run(*mode, "--dump-extract-rate")
    assert run.ret == 0, run.out
    assert run.outcomes == {"passed": 2, "wrong": 3}
    result = run.result()
    assert result["pass@1"] == 40.0
    details = result["details"]
    assert [d["metadata"]["status"] for d in details[:3]] == ["pass", "pass", "fail"]
    (kind,) = {d["metadata"]["sandbox"] for d in details if "sandbox" in d["metadata"]}
    assert f"quiz fake: programs ran in {kind}" in run.out
    again = project.run("--mode=eval", *mode, "--dump-extract-rate")
    assert again.outcomes == run.outcomes
