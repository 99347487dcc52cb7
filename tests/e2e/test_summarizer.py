from __future__ import annotations

import json

import pytest

from .project import HEAD, Project, Run, right, wrong

BENCHMARKS = (
    HEAD
    + """
class Base(DefaultDataAdapter):
    def record_to_sample(self, record):
        return Sample(input=record["q"], target=record["a"])

def named(name):
    return register_benchmark(BenchmarkMeta(name=name, eval_cfg=dict(evaluator=dict(type="em"))))

@named("qc")
class QC(Base): ...

@named("itf")
class ITF(Base): ...
"""
)
GROUPS = """
groups = [
    dict(name="all", subsets=["qc", "itf"], weights={"qc": 10, "itf": 20}),
    dict(name="macro", subsets=["qc", "itf"]),
]
"""
ROWS = '[["all", "weighted_average"], "", ["macro", "naive_average"], ["nothing", "em"]]'
OWN = (
    GROUPS
    + f"""
from dataclasses import replace
from pytest_evalplug import DefaultSummarizer

class Noted(DefaultSummarizer):
    def summarize(self, output_path, time_str):
        table = super().summarize(output_path, time_str)
        return replace(table, notes=(*table.notes, f"{{len(table.rows)}} rows"))

summarizer = dict(type=Noted, dataset_abbrs={ROWS}, summary_groups=groups)
"""
)
BROKEN = """
from pytest_evalplug import DefaultSummarizer

class Broken(DefaultSummarizer):
    def summarize(self, output_path, time_str):
        raise KeyError("x")

summarizer = Broken()
"""


@pytest.fixture
def suite(project: Project) -> Project:
    """Two benchmarks of 10 and 20 samples, of which 60 and 90 % are right."""
    (project.path / "test_quiz.py").unlink()
    project.write("test_parts.py", BENCHMARKS)
    project.data([right(n) if n < 6 else wrong(n) for n in range(10)], "qc/test")
    project.data([right(n) if n < 18 else wrong(n) for n in range(20)], "itf/test")
    return project


def rows(run: Run) -> list[list[str]]:
    """Return the words of the printed table's first rows."""
    lines = run.out.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("dataset "))
    return [line.split() for line in lines[start + 2 : start + 6]]


EXPECTED = [
    ["all", "-", "weighted_average", "gen", "80.00"],
    ["-", "-", "-", "-"],
    ["macro", "-", "naive_average", "gen", "75.00"],
    ["nothing", "-", "-", "-", "-"],
]


def test_a_conftests_summarizer_in_every_stage(suite: Project, mode: tuple[str, ...]) -> None:
    suite.add("conftest.py", OWN)
    for args in (mode, ("--reuse", "--mode=eval"), ("--mode=viz",)):
        run = suite.run(*args)
        assert run.ret == 0
        assert rows(run) == EXPECTED
        assert "\n4 rows\n" in run.out
        assert "±" not in run.out
    assert suite.asked() != []
    (path, *_) = sorted(run.path.glob("summary/*.json"))
    wire = json.loads(path.read_text(encoding="utf-8"))
    cell = wire["rows"][0]["scores"]["fake"]
    assert (cell["value"], cell["n"], cell["incomplete"]) == (80, 30, None)
    assert cell["interval"][0] < 80 < cell["interval"][1]
    assert [row["dataset"] for row in wire["hidden"]] == ["qc", "itf", "all", "macro"]
    (snapshot, *_) = run.path.glob("configs/config_*.json")
    assert "weighted_average" in snapshot.read_text(encoding="utf-8")


def test_a_finished_run_is_regrouped_without_the_model(suite: Project) -> None:
    assert suite.run("--limit=10").ret == 0
    suite.asked()
    suite.write("groups.py", OWN)
    run = suite.run("--mode=viz", "--eval-summarizer=groups.py", "-v")
    line = "all - weighted_average gen 86.67 ± 5.44 [65.83, 94.39] n=20"
    assert " ".join(rows(run)[0]) == line
    assert suite.asked() == []
    run = suite.run("--mode=viz", "--eval-summarizer=evalscope")
    assert "Cat.0" in run.out
    written = [path.name.split("_")[0] for path in (run.path / "summary").glob("*.json")]
    assert sorted(written) == ["summary", "viz", "viz"]
    assert run.line("1.0000").split() == [
        "fake",
        "itf",
        "exact_match",
        "default",
        "10",
        "1.0000",
        "default",
    ]


def test_the_table_in_pyproject_toml(suite: Project) -> None:
    suite.add(
        "pyproject.toml",
        f"""
[tool.evalplug.summarizer]
dataset_abbrs = {ROWS}

[[tool.evalplug.summarizer.summary_groups]]
name = "all"
subsets = ["qc", "missing"]
sum = true
""",
    )
    run = suite.run("-v")
    assert run.ret == 0
    assert rows(run)[0] == ["all", "-", "-", "-", "-"]
    assert "all fake: no sum, 1 of 2 subsets have a result; missing: missing" in run.out


@pytest.mark.parametrize(
    ("args", "conftest", "message"),
    [
        (
            ["--eval-summarizer=mlu"],
            "",
            "--eval-summarizer: unknown preset 'mlu'. Did you mean 'mm",
        ),
        (["--eval-summarizer=no/mmlu"], "", "--eval-summarizer: unknown preset '/"),
        (["--eval-summarizer=no.toml"], "", "--eval-summarizer: there is no file"),
        ([], "summarizer = dict(rows=[])", "conftest.py: summarizer: unknown key 'rows'"),
    ],
)
def test_a_mistake_stops_before_the_model_is_asked(
    suite: Project, args: list[str], conftest: str, message: str
) -> None:
    suite.add("conftest.py", conftest)
    run = suite.run("--mode=all", "--limit=1", *args)
    assert run.ret == pytest.ExitCode.USAGE_ERROR
    assert f"ERROR: {message}" in run.out or message in run.line("ERROR: ")
    assert suite.asked() == []
    assert suite.runs == []


def test_a_summarizer_that_fails_costs_only_the_table(suite: Project) -> None:
    suite.add("conftest.py", BROKEN)
    run = suite.run("--limit=1")
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    assert run.outcomes == {"passed": 2}
    assert "Broken.summarize: KeyError: 'x'" in run.out
    assert run.result("qc")["exact_match"] == 100
