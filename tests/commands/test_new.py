"""What ``evalplug new`` writes runs at once."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import pytest_evalplug.evaluation.config
import pytest_evalplug.finish
import pytest_evalplug.session  # noqa: F401 - an in-process run would forget them
from pytest_evalplug.cli import main

MODEL = """
import pytest

class Fake:
    name = "fake"
    capabilities = frozenset({"generate"})

    def generate(self, prompts, params):
        return ["ANSWER: B" if "A. " in prompt else "ANSWER: Paris" for prompt in prompts]

@pytest.fixture(scope="session")
def model_backend():
    return Fake()
"""


@pytest.mark.parametrize("kind", ["qa", "mcq"])
def test_a_template_runs_at_once(
    kind: str, pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    pytester.makeconftest(MODEL)
    assert main(["new", "my-quiz.2", "suite", "--type", kind]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "wrote suite/test_my_quiz_2.py",
        "wrote suite/test_my_quiz_2_rules.py",
        "wrote suite/data/my-quiz.2/test.jsonl",
        "ask a model:  pytest suite/test_my_quiz_2.py --model=smollm2 --limit 2",
        "test it:      pytest suite/test_my_quiz_2_rules.py",
    ]
    result = pytester.runpytest_inprocess("-p", "no:randomly", "suite", "--limit=2")
    counts = result.parseoutcomes()
    assert (result.ret, counts.pop("wrong")) == (0, 1)
    assert counts == {"passed": 8 if kind == "qa" else 10}
    (path,) = pytester.path.glob("outputs/*/results/fake/my-quiz.2.json")
    metric = "exact_match" if kind == "qa" else "accuracy"
    assert json.loads(path.read_text(encoding="utf-8"))[metric] == 50


def test_a_copy_runs_at_once(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(MODEL)
    assert main(["new", "mine", "--from", "demo_math"]) == 0
    result = pytester.runpytest_inprocess("-p", "no:randomly", "--limit=1")
    assert result.parseoutcomes() == {"passed": 1, "wrong": 1}
    assert list(pytester.path.glob("outputs/*/results/fake/mine.json"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a/b"], "BenchmarkMeta 'a/b': name is 'a/b'. Use letters, digits, '_', '-' and '.'."),
        (["../up"], "BenchmarkMeta '../up': name is '../up'."),
        (["x", "--from", "gsm"], "there is no benchmark 'gsm'. Did you mean 'mgsm'?"),
        (["x", "--from", "gsm8k", "--type", "qa"], "--from and --type exclude each other"),
        (["gsm8k"], "'gsm8k' is a shipped benchmark, whose data a data directory may hold. Cho"),
        (["mmlu", "--from", "arc_easy"], "'mmlu' is a shipped benchmark"),
        (["quiz", "data/taken/test.jsonl"], "data/taken/test.jsonl: is a file. Name a folder"),
        (["q" * 300], f"test_{'q' * 300}.py: can't be written: File name too long. Choose another"),
        (["taken"], "data/taken/test.jsonl: is there already. Choose another name"),
    ],
)
def test_mistakes(
    words: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data/taken").mkdir(parents=True)
    (tmp_path / "data/taken/test.jsonl").touch()
    assert main(["new", *words]) == 2
    assert capsys.readouterr().err.startswith(f"evalplug new: error: {message}")
    assert [path.name for path in tmp_path.rglob("*.*")] == ["test.jsonl"]


@pytest.mark.parametrize("words", [["--type", "mcq"], ["--from", "demo_math"]])
def test_the_folder_is_the_last_word(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new", "quiz", *words, "a/b"]) == 0
    assert (tmp_path / "a/b/test_quiz.py").is_file()


@pytest.mark.parametrize("kind", ["qa", "mcq"])
def test_what_it_writes_is_clean(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new", "quiz", "--type", kind]) == 0
    (tmp_path / "ruff.toml").write_text('line-length = 100\nlint.select = ["E", "F", "I", "UP"]\n')
    for command in (["check"], ["format", "--check"]):
        subprocess.run([sys.executable, "-m", "ruff", *command, "."], check=True)
