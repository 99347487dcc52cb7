"""A small suite of benchmarks in a folder of its own, and pytest runs on it."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

CONFTEST = '''
"""A model that does what its prompt says, and notes down what it was asked."""
import json
import os
import time
from pathlib import Path

import pytest

from pytest_evalplug.errors import FatalModelError, ModelError
from pytest_evalplug.model.base import Choice, SequenceLoss

HERE = Path(__file__).parent


def note(prompts):
    lines = "".join(json.dumps(prompt) + "\\n" for prompt in prompts)
    with open(HERE / "asked.jsonl", "a") as file:
        file.write(lines)


def obey(prompt, params=None):
    text = prompt if isinstance(prompt, str) else prompt[-1]["content"]
    verb, _, rest = text.splitlines()[-1].partition(" ")
    if verb == "say":
        return rest
    if verb == "json":
        return json.loads(rest)
    if verb == "max_tokens":
        return str(params.max_tokens)
    if verb == "fail":
        return ModelError(rest)
    if verb == "raise":
        raise RuntimeError(rest)
    if verb == "fatal":
        raise FatalModelError(rest)
    if verb == "wait":
        time.sleep(float(rest))
        return rest
    if verb == "exit":
        time.sleep(0.3)  # what has arrived gets journaled
        os._exit(3)
    return "I can't do that"


class Fake:
    name = "fake"
    capabilities = frozenset({"generate", "loglikelihood"})
    batch_size = 4

    def generate(self, prompts, params):
        note(prompts)
        return [obey(prompt, params) for prompt in prompts]

    def loglikelihood(self, queries):
        note([query.context for query in queries])
        return [
            [Choice(0.0 if c.strip() == obey(q.context) else -9.0, 1) for c in q.continuations]
            for q in queries
        ]

    def sequence_loss(self, texts):
        note(texts)
        return [SequenceLoss(1.0 if "right" in t.splitlines()[-1] else 9.0, 3) for t in texts]


@pytest.fixture(scope="session")
def model_backend():
    return Fake()
'''

HEAD = """
import pytest
from pytest_evalplug import *
"""

QUIZ = (
    HEAD
    + """
ACCURACY = dict(evaluator=dict(type="accuracy"))

@register_benchmark(BenchmarkMeta(name="quiz", tags=[Tags.MATH], eval_cfg=ACCURACY))
class Quiz(DefaultDataAdapter):
    def record_to_sample(self, record):
        return Sample(
            input=record["q"],
            target=record["a"],
            id=record.get("id"),
            choices=record.get("choices"),
            subset_key=record.get("subset"),
        )
"""
)

PYPROJECT = """
[tool.pytest.ini_options]
addopts = "-p no:randomly -p no:hypothesispytest -p no:anyio --data-dir=data"
"""

Row = Mapping[str, Any]


def right(number: int) -> Row:
    """Return a record that the model answers as the reference says."""
    return {"q": f"say {number}", "a": str(number)}


def wrong(number: int) -> Row:
    """Return a record that the model answers differently."""
    return {"q": f"say {number}", "a": "something else"}


@dataclass(frozen=True)
class Run:
    """One pytest run: what it printed, and what it left on the disk."""

    ret: int
    out: str
    outcomes: dict[str, int]
    path: Path
    """The newest run directory; check ``runs`` of the project for whether there is one."""

    def result(self, dataset: str = "quiz", model: str = "fake") -> dict[str, Any]:
        content: dict[str, Any] = json.loads(self.result_text(dataset, model))
        return content

    def result_text(self, dataset: str = "quiz", model: str = "fake") -> str:
        return (self.path / "results" / model / f"{dataset}.json").read_text(encoding="utf-8")

    def predictions(self, dataset: str = "quiz", model: str = "fake") -> dict[str, Any]:
        path = self.path / "predictions" / model / f"{dataset}.json"
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return content

    def line(self, part: str) -> str:
        """Return the only line that holds ``part``."""
        found = [line for line in self.out.splitlines() if part in line]
        assert len(found) == 1, (part, self.out)
        return found[0]


class Project:
    """A folder with a scripted model, a benchmark ``quiz`` and its data."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        self.path = pytester.path
        self.write("conftest.py", CONFTEST)
        self.write("pyproject.toml", PYPROJECT)
        self.write("test_quiz.py", QUIZ)

    def write(self, name: str, text: str) -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def add(self, name: str, text: str) -> None:
        """Append to a file."""
        self.write(name, (self.path / name).read_text(encoding="utf-8") + text)

    def data(self, rows: Iterable[Row], file: str = "quiz/test") -> None:
        """Write records as JSON lines under ``data/``."""
        self.write(f"data/{file}.jsonl", "".join(json.dumps(row) + "\n" for row in rows))

    def run(self, *args: str, subprocess: bool = False) -> Run:
        """Run pytest; whatever happens, an INTERNALERROR is our bug."""
        runner = (
            self.pytester.runpytest_subprocess if subprocess else self.pytester.runpytest_inprocess
        )
        result = runner(*args)
        out = f"{result.stdout}\n{result.stderr}"
        assert "INTERNALERROR" not in out, out
        runs = self.runs
        last = re.findall(r"^=*( no tests ran|.*\d+ \w+).* in [\d.]+s", out, re.MULTILINE)
        outcomes = result.parseoutcomes() if last and "no tests" not in last[-1] else {}
        return Run(int(result.ret), out, outcomes, runs[-1] if runs else self.path / "none")

    @property
    def runs(self) -> list[Path]:
        """The run directories, the newest last."""
        folder = self.path / "outputs"
        found = [p for p in folder.iterdir() if p.is_dir()] if folder.is_dir() else []
        return sorted(found, key=lambda path: path.stat().st_ctime_ns)

    def asked(self) -> list[str]:
        """Return what the model has been asked since the last call, in order."""
        path = self.path / "asked.jsonl"
        if not path.exists():
            return []
        prompts = [json.loads(line) for line in path.read_text().splitlines()]
        path.unlink()
        return prompts


def wait_for_results(path: Path) -> None:
    """Wait until the first verdicts are journaled."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if any(file.stat().st_size for file in path.glob("outputs/*/journal/details*")):
            return
        time.sleep(0.1)
    raise AssertionError("nothing was scored")
