"""A run in parts, and the parts as one run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .project import CONFTEST, HEAD, Project, right, wrong

WHOLE = """

from pytest_evalplug import BaseEvaluator, evaluators

@evaluators.register("whole")
class Whole(BaseEvaluator):
    def score(self, predictions, references, test_set=None):
        assert [row["input"] for row in test_set] == [f"say {p}" for p in predictions]
        longest = max(predictions, key=lambda p: (len(p), p))
        return {"length": float(sum(map(len, predictions))), "longest": float(longest)}

summarizer = dict(summary_groups=[
    dict(name="both", subsets=[["zoo-cats", "length"], ["zoo-dogs", "length"]], sum=True)
])
"""

SUITE = (
    HEAD
    + """
def sample(record):
    return Sample(input=record["q"], target=record["a"], choices=record.get("choices"))

@register_benchmark(BenchmarkMeta(
    name="zoo", subset_list=["cats", "dogs", "mice"], repeats=2,
    eval_cfg=dict(evaluator=dict(type="whole")),
))
class Zoo(DefaultDataAdapter):
    record_to_sample = staticmethod(sample)

@register_benchmark(BenchmarkMeta(name="quiz", eval_cfg=dict(evaluator=dict(type="accuracy"))))
class Quiz(DefaultDataAdapter):
    record_to_sample = staticmethod(sample)

    def test_sample(self, evaluation, sample):
        if sample.target == "skip":
            pytest.skip("not today")
        evaluation.check()

@register_benchmark(BenchmarkMeta(name="circle", eval_cfg=dict(evaluator=dict(type="circular"))))
class Circle(MultiChoiceAdapter):
    circular = True
    record_to_sample = staticmethod(sample)
"""
)


@pytest.fixture
def suite(project: Project) -> Project:
    """Subsets, repeats, versions of a sample, corpus metrics, errors and skips."""
    project.write("conftest.py", CONFTEST + WHOLE)
    project.write("test_quiz.py", SUITE)
    more: list[dict[str, Any]] = [{"q": "fail tired", "a": "x"}, {"q": "say 1", "a": "skip"}]
    project.data([*(right(n) for n in range(9)), *(wrong(n) for n in range(4)), *more])
    project.data([right(n) for n in range(5)], "zoo/cats/test")
    project.data([right(n) for n in range(100, 111)], "zoo/dogs/test")
    project.data([right(7)], "zoo/mice/test")
    choices = ["red", "green", "blue"]
    project.data([{"q": f"Pick {n}", "a": "ABC"[n % 3], "choices": choices} for n in range(7)],
                 "circle/test")  # fmt: skip
    return project


def merge(project: Project, *args: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "pytest_evalplug.cli", "merge", *args]
    done = subprocess.run(command, cwd=project.path, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def saved(run: Path) -> dict[str, str]:
    return {
        str(file.relative_to(run)): file.read_text(encoding="utf-8")
        for folder in ("predictions", "results")
        for file in sorted((run / folder).rglob("*.json"))
    }


def summary(run: Path) -> Any:
    (path,) = (run / "summary").glob("*.json")
    return json.loads(path.read_text(encoding="utf-8"))


def only_run(folder: Path) -> Path:
    (path,) = (p for p in folder.iterdir() if p.is_dir())
    return path


def test_merged_shards_equal_one_run(suite: Project) -> None:
    gate = "--eval-gate=both>=30"
    whole = suite.run()
    asked = suite.asked()
    parts = []
    for number, mode in enumerate([("-n2",), (), ()], 1):
        part = suite.run(f"--eval-shard={number}/3", f"--work-dir=parts/{number}", gate, *mode)
        assert part.ret == (1 if "errors" in part.outcomes else 0)
        assert f"partial run (shard {number}/3)" in part.out
        assert "skipped both>=30: one shard: 'evalplug merge' checks it" in part.out
        parts.append(part)
    collected = [int(part.out.split("collected ")[1].split()[0]) for part in parts[1:]]
    assert max(collected) <= 70 / 3 + 3  # no shard makes items of all samples
    assert sorted(suite.asked()) == sorted(asked)
    total = {k: sum(part.outcomes.get(k, 0) for part in parts) for k in whole.outcomes}
    total["skipped"] -= 3  # the gate, in each
    assert total == whole.outcomes

    status, out = merge(suite, "parts", "-o", "merged", "--eval-json=all.json", "--junitxml=m.xml")
    merged = only_run(suite.path / "merged")
    assert (status, "INTERNALERROR" in out) == (0, False), out
    assert saved(merged) == saved(whole.path)
    assert summary(merged) == summary(whole.path)
    assert "passed  both>=30: sum is 38.00" in out
    assert json.loads((suite.path / "all.json").read_text())["exit"]["status"] == 0
    assert 'classname="evalplug.gates" name="both&gt;=30"' in (suite.path / "m.xml").read_text()

    again = suite.run("--mode=eval", "--work-dir=merged", "--reuse")
    assert again.outcomes == whole.outcomes
    assert suite.asked() == []


def test_a_shard_is_the_same_by_any_selection(project: Project) -> None:
    project.data([right(n) for n in range(20)])
    project.run("--eval-shard=2/3")
    first = sorted(project.asked())
    assert 6 <= len(first) <= 7
    project.run("--eval-shard=2/3", "-k", " or ".join(f"default-{n}]" for n in range(10)))
    assert sorted(project.asked()) == [q for q in first if int(q.split()[1]) < 10]
    project.run("--eval-shard=2/3", "--limit=12")
    assert sorted(project.asked()) == [q for q in first if int(q.split()[1]) < 12]
    scored = project.run("--mode=eval")
    assert scored.outcomes["passed"] == len([q for q in first if int(q.split()[1]) < 12])


def test_what_does_not_belong_together(project: Project) -> None:
    project.data([right(n) for n in range(6)])
    for name, args in {
        "one": ("--eval-shard=1/2",),
        "two": ("--eval-shard=2/2", "--eval-gate=quiz>=101"),
        "of3": ("--eval-shard=3/3",),
        "limited": ("--eval-shard=2/2", "--limit=3"),
        "whole": (),
    }.items():
        project.run(f"--work-dir=runs/{name}", *args)
    project.add("pyproject.toml", 'filterwarnings = ["error"]\n')
    status, out = merge(project, "runs/one", "-o", "m", "--eval-gate=quiz>=1")
    assert status == 1
    assert "missing shards: 2/2" in out
    assert "failed  quiz>=1" in out
    assert "incomplete: partial run" in out
    status, out = merge(project, "runs/one", "runs/two", "-o", "m")
    assert status == 0
    assert "--eval-gate: the shards had different ones; the first one's count" in out
    for others, message in {
        ("of3",): "shards of different splits, 1/2 and 3/3",
        ("limited",): "made with different settings: --limit was null and 3",
        ("whole",): "not a shard of a run: it was made without --eval-shard",
        ("gone",): "gone: no run directory",
        ("two", "--eval-gate=quiz"): "'quiz' is no gate",
    }.items():
        status, out = merge(
            project, "runs/one", *(f"runs/{o}" if "=" not in o else o for o in others)
        )
        assert status == 2, out
        assert message in out
        assert "Traceback" not in out
    snapshot = next((project.path / "runs/two").glob("*/configs/config_*.json"))
    snapshot.write_text(snapshot.read_text().replace('"gates"', '"other"'))
    status, out = merge(project, "runs/two")
    assert (status, "configs: damaged snapshot: KeyError: 'gates'" in out) == (2, True), out
    manifest = next((project.path / "runs/one").glob("*/journal/manifest.json"))
    manifest.write_text(manifest.read_text().replace("/test_quiz.py", "/runs/one/test_quiz.py"))
    (project.path / "test_quiz.py").rename(project.path / "runs/one/test_quiz.py")
    status, out = merge(project, "runs/one")
    assert (status, "runs/one/test_quiz.py is not here" in out) == (2, True), out
    manifest.write_text("{")
    assert "manifest.json: damaged: " in merge(project, "runs/one")[1]
    assert not (project.path / "outputs").exists()
