from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from pytest_evalplug.cli import main

MODULE = """
from pytest_evalplug import *

@register_benchmark(BenchmarkMeta(name="quiz", tags=["Math", "My Own"], subset_list=["a", "b"]))
class Quiz(DefaultDataAdapter):
    def record_to_sample(self, record):
        return Sample(input=record["q"], target="x")

@register_benchmark(BenchmarkMeta(name="other", tags=["Math"], few_shot_num=2))
class Other(Quiz):
    pass
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("EVALPLUG_DATA_DIR", raising=False)
    (tmp_path / "test_quiz.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "data/quiz/b").mkdir(parents=True)
    (tmp_path / "data/quiz/b/test.jsonl").write_text('{"q": "?"}\n' * 1200, encoding="utf-8")
    return tmp_path


def test_a_table(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    places = os.pathsep.join([str(folder / "none"), str(folder / "data")])
    assert main(["list", str(folder), "--data-dir", places]) == 0
    _, _, quiz, other = capsys.readouterr().out.splitlines()
    assert " ".join(quiz.split()) == "quiz - 1,200, 1 of 2 subsets gen 0 accuracy Math, My Own"
    assert " ".join(other.split()) == "other - - gen 2 accuracy Math"


@pytest.mark.parametrize(
    ("tags", "names"),
    [
        (["math"], ["quiz", "other"]),
        (["my-own"], ["quiz"]),
        (["Math", "my_own"], ["quiz"]),
    ],
)
def test_by_tag(
    folder: Path, capsys: pytest.CaptureFixture[str], tags: list[str], names: list[str]
) -> None:
    flags = [word for tag in tags for word in ("--tag", tag)]
    assert main(["list", str(folder), "--json", *flags]) == 0
    assert [fact["name"] for fact in json.loads(capsys.readouterr().out)] == names


def test_nothing_has_the_tag(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", str(folder), "--tag", "coding"]) == 1
    assert capsys.readouterr().out == "no benchmarks\n"


def test_json_has_all(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", str(folder), "--json", "--data-dir", str(folder / "data")]) == 0
    assert json.loads(capsys.readouterr().out)[0] == {
        "name": "quiz",
        "pretty_name": "",
        "description": "",
        "samples": "",
        "at_hand": {"b": 1200},
        "subsets": ["a", "b"],
        "tags": ["Math", "My Own"],
        "modes": ["gen"],
        "shots": 0,
        "scored_by": ["accuracy"],
        "module": str(folder / "test_quiz.py"),
    }


def test_without_a_path_those_shipped(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--tag", "math", "--data-dir", ""]) == 0
    assert "\ngsm8k " in capsys.readouterr().out
