"""pytest's own options and other plugins; suites that evaluate nothing."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import pytest_evalplug

from .project import CONFTEST, PYPROJECT, QUIZ, Project, right, wrong

HELP = """\
LLM benchmark evaluation (pytest-evalplug):
  --eval-model=MODEL    model to evaluate: a name from [tool.evalplug.models],
                        'smollm2', 'qwen', hf:<id-or-path>, or
                        openai:<model>@<base_url>. Repeat it for one column
                        each.
  --eval-mode={gen,ppl,ll}
                        what the model is asked for: gen = generated text
                        (default), ppl = lowest perplexity of context and
                        choice, ll = highest log-probability of the choice.
"""
HEAVY = ("torch", "transformers", "datasets", "openai", "aiohttp", "pandas", "tabulate", "numpy",
         "asyncio", "pytest_evalplug.session", "pytest_evalplug.inference.engine")  # fmt: skip
OURS = ("dataset", "dataset.tags", "errors", "fixtures", "hookspecs", "marks", "option_table",
        "option_values", "plugin", "report", "report.text", "stash")  # fmt: skip
"""All that a session imports of us where nothing is evaluated."""


@pytest.mark.parametrize(
    "args",
    [
        ("-p", "no:xdist"),
        ("-p", "no:cacheprovider"),
        ("-p", "no:terminal"),
        ("-p", "no:junitxml"),
        ("-p", "randomly"),
        ("--import-mode=importlib",),
        ("-p", "no:cacheprovider", "-n2"),
        ("-p", "no:terminal", "-n2"),
        ("--import-mode=importlib", "-n2"),
        ("--durations=3", "--durations-min=0"),
        ("-q",),
        ("-vv",),
        ("--tb=short",),
        ("-s",),
        ("--assert=plain",),
        ("--strict-markers", "--strict-config"),
    ],
    ids=" ".join,
)
def test_runs_with(project: Project, args: tuple[str, ...]) -> None:
    project.data([right(0), wrong(1), right(2)])
    project.write("test_ordinary.py", "def test_it(): pass\n")
    run = project.run(*args)
    assert run.ret == 0, run.out
    assert run.result()["run"]["num_samples"] == 3
    assert run.result()["run"]["num_correct"] == 2
    if "no:terminal" not in args:
        assert run.outcomes == {"passed": 3, "wrong": 1}


def test_modules_of_one_name_in_two_folders(project: Project) -> None:
    """As --import-mode=importlib allows; the controller has to import them, too."""
    source = (project.path / "test_quiz.py").read_text()
    (project.path / "test_quiz.py").unlink()
    for name in ("one", "two"):
        project.write(f"{name}/test_quiz.py", source.replace('"quiz"', f'"{name}"'))
        project.data([right(n) for n in range(9)], f"{name}/test")
    run = project.run("--import-mode=importlib", "-n2")
    assert run.ret == 0, run.out
    assert run.result("one")["accuracy"] == run.result("two")["accuracy"] == 100


def test_collect_only(project: Project) -> None:
    project.data([right(0)])
    for args in ((), ("-n2",), ("--model=openai:m@http://127.0.0.1:9/v1",)):
        run = project.run("--collect-only", *args)
        assert run.ret == 0
        assert not project.runs
        assert "evaluation summary" not in run.out
    assert not project.asked()


def test_without_the_plugin(project: Project) -> None:
    project.write("test_quiz.py", "def test_it(): pass\n")
    project.write("conftest.py", "")
    project.write("pyproject.toml", "")
    run = project.run("-p", "no:evalplug", "-p", "no:randomly")
    assert run.outcomes == {"passed": 1}


OWN_CONFTEST = """
import pytest

import pytest_evalplug
def pytest_addoption(parser):
    parser.addoption("--model", default="T", help="car model")
    parser.addoption("--limit", type=int, default=50)
def pytest_configure(config):
    config.addinivalue_line("markers", "eval: belongs to others")
@pytest.fixture
def model(request): return request.config.getoption("--model")
@pytest.fixture
def sample(): return "own sample"
@pytest.fixture
def prediction(): return "own prediction"
@pytest.fixture
def benchmark(): return max
"""
OWN_TEST = """
import pytest

import pytest_evalplug
@pytest.mark.eval
@pytest.mark.parametrize("sample_id", range(10))
def test_car(model, sample, benchmark, prediction, request, sample_id):
    assert model == "S"
    assert sample == "own sample"
    assert prediction == "own prediction"
    assert benchmark(1, 2) == 2
    assert request.config.getoption("--limit") == 70
"""


def test_an_ordinary_suite_is_undisturbed(project: Project, every_mode: tuple[str, ...]) -> None:
    project.write("conftest.py", OWN_CONFTEST)
    (project.path / "test_quiz.py").unlink()
    project.write("test_car.py", OWN_TEST)
    project.write("pyproject.toml", PYPROJECT.replace(" --data-dir=data", ""))
    run = project.run("--model=S", "--limit=70", "--strict-markers", *every_mode)
    assert run.ret == 0
    assert run.outcomes == {"passed": 10}
    assert (
        "eval"
        not in run.out.replace("plugins: xdist-3.8.0, evalplug", "")
        .replace(str(project.path), "")
        .partition("rootdir")[2]
        .partition("plugins:")[2]
        .partition("\n")[2]
    )
    assert not (project.path / "outputs").exists()


def test_benchmarks_beside_an_own_model_option(project: Project) -> None:
    project.add("conftest.py", OWN_CONFTEST.replace("def prediction", "def unused"))
    project.write(
        "test_car.py", OWN_TEST.replace("prediction,", "").replace("    assert pred", "#")
    )
    project.data([right(n) for n in range(5)])
    run = project.run("--model=S", "--limit=70", "--eval-limit=2")
    assert run.outcomes == {"passed": 12}


def test_fixtures_outside_a_benchmark(project: Project) -> None:
    (project.path / "test_quiz.py").unlink()
    project.write("test_car.py", "def test_car(sample): pass\n")
    run = project.run()
    assert run.ret == 1
    assert "belong to a benchmark. Use them in a class decorated with" in run.out
    assert not project.runs


def test_help(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    out = project.run("--help").out
    assert HELP in out
    group = out.partition("LLM benchmark evaluation")[2].partition("\n\n")[0]
    for short in (
        "--model",
        "--mode",
        "--reuse",
        "--work-dir",
        "--limit",
        "--subset",
        "--data-dir",
        "--dump-extract-rate",
        "--dump-res-length",
        "--dump-eval-details",
    ):
        twin = "--eval-stage" if short == "--mode" else f"--eval-{short[2:]}"
        assert f"  {short}" in group
        assert f"  {twin}" in group
        assert f"short for {twin}" in " ".join(group.split())
    assert "evalplug_limit" in out
    assert not project.runs


def test_header(project: Project) -> None:
    project.data([right(0)])
    run = project.run("--model=openai:m@http://127.0.0.1:9/v1", "--limit=5")
    assert run.line("evalplug: model") == (
        "evalplug: model m (openai), eval-mode gen, stage all, limit 5, work-dir outputs"
    )


def test_environment_and_ini(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write(
        "pyproject.toml",
        PYPROJECT.replace(" --data-dir=data", "")
        + "evalplug_data_dir = 'data'\nevalplug_work_dir = 'here'\nevalplug_limit = '2'\n",
    )
    project.data([right(n) for n in range(5)])
    assert project.run().outcomes == {"passed": 2}
    assert (project.path / "here").is_dir()
    monkeypatch.setenv("EVALPLUG_LIMIT", "3")
    monkeypatch.setenv("EVALPLUG_WORK_DIR", "there")
    assert project.run().outcomes == {"passed": 3}
    assert (project.path / "there").is_dir()
    assert project.run("--limit=4", "-n2").outcomes == {"passed": 4}


def test_paths_in_an_ini_file_are_relative_to_it(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write(
        "pyproject.toml",
        PYPROJECT.replace(" --data-dir=data", "")
        + "evalplug_data_dir = 'none:data'\nevalplug_work_dir = 'here'\n",
    )
    project.data([right(0)])
    folder = project.path / "deep/er"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    assert project.run("../..").outcomes == {"passed": 1}
    assert (project.path / "here").is_dir()


@pytest.mark.parametrize("what", ["import", "help", "ordinary"])
def test_idle_plugin_imports_nothing_heavy(project: Project, what: str) -> None:
    for name in ("conftest.py", "test_quiz.py", "pyproject.toml"):
        (project.path / name).unlink()
    project.write("test_car.py", "def test_car(): pass\n")
    env = {name: value for name, value in os.environ.items() if not name.startswith("EVALPLUG_")}
    own = ["-q", *(f"-pno:{name}" for name in ("randomly", "hypothesispytest", "anyio", "xdist"))]
    body = {
        "import": "import pytest_evalplug.plugin",
        "help": f"import pytest; pytest.main(['--help', *{own}])",
        "ordinary": f"import pytest; pytest.main({own})",
    }[what]
    code = f"import sys\n{body}\nprint('LOADED', *sorted(sys.modules))"
    command = [sys.executable, "-c", code]
    out = subprocess.run(
        command, cwd=project.path, env=env, capture_output=True, text=True, check=True
    ).stdout
    loaded = set(out.rpartition("LOADED ")[2].split())
    assert "pytest_evalplug.plugin" in loaded
    assert not loaded & set(HEAVY)
    ours = {name for name in loaded if name.startswith("pytest_evalplug.")}
    assert ours <= {f"pytest_evalplug.{name}" for name in OURS}


def test_nothing_given_and_a_benchmark_found(project: Project, every_mode: tuple[str, ...]) -> None:
    """What an option would have set up at the start is there when a benchmark is found."""
    project.write("test_a_broken.py", "import nothing_of_that_name\n")
    project.write("pyproject.toml", "")
    project.write("quiz/test.jsonl", '{"q": "say 1", "a": "1"}\n{"q": "say 1", "a": "2"}\n')
    project.write("test_quiz.py", QUIZ.replace('name="quiz",', 'name="quiz", dataset_id="quiz",'))
    run = project.run("-pno:randomly", "--continue-on-collection-errors", *every_mode)
    assert run.outcomes == {"passed": 1, "wrong": 1, "errors": 1}
    assert run.ret == 1  # a wrong answer alone would be 0
    assert run.result()["accuracy"] == 50
    alone = project.run("-pno:randomly", "test_quiz.py", *every_mode)
    assert (alone.ret, alone.outcomes) == (0, {"passed": 1, "wrong": 1})


def test_progress_and_other_output_keep_apart(project: Project) -> None:
    project.data([right(n) for n in range(100)])
    run = project.run("-v", "-n2")
    assert run.outcomes == {"passed": 100}
    assert project.run("-q").out.count(".") >= 100


def test_stepwise_and_failed_first(project: Project) -> None:
    project.data([right(0), wrong(1), right(2)])
    run = project.run("--stepwise")
    assert run.ret == 1 or run.ret == 2
    assert project.run("--ff").outcomes == {"passed": 2, "wrong": 1}


def test_two_sessions_of_one_process(project: Project) -> None:
    """State lives on the config, never in a module."""
    project.data([right(0)])
    project.write("conftest.py", CONFTEST)
    first, second = project.run(), project.run()
    assert first.path != second.path
    assert first.result_text() == second.result_text()


def test_a_bar_in_a_terminal(project: Project) -> None:
    pytest.importorskip("pty", reason="this system has no pseudo-terminals")
    project.data(
        [wrong(0), *[{"q": f"wait 0.{n}", "a": f"0.{n}"} for n in (11, 12, 13, 14, 15, 16)]]
    )
    project.write("test_ordinary.py", "def test_it(): print('hidden')\n")
    code = f"import pty; pty.spawn([{sys.executable!r}, '-m', 'pytest'])"
    out = subprocess.run(
        [sys.executable, "-c", code],
        cwd=project.path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "COLUMNS": "120", "TERM": "xterm"},
    ).stdout
    assert "/7 samples" in out
    assert "1 wrong" in out
    assert "[" + "#" * 20 not in out.rpartition("test_ordinary.py")[2]
    assert "hidden" not in out
    assert "evaluation summary" in out
    assert "7 passed" in out


def test_only_public_names_of_pytest() -> None:
    root = Path(pytest_evalplug.__file__).parent
    private = [p for p in root.rglob("*.py") if re.search(r"\b_pytest\b", p.read_text("utf-8"))]
    assert private == []
