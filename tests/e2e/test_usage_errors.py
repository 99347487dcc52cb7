"""Mistakes in the options: one line before anything runs, exit status 4."""

from __future__ import annotations

import pytest

from .project import Project, right

OPENAI = "--model=openai:m@http://127.0.0.1:9/v1"


def usage_error(project: Project, *args: str) -> str:
    """Return the one line."""
    project.data([right(1)])
    run = project.run(*args)
    assert run.ret == 4, run.out
    assert "Traceback" not in run.out
    assert not project.runs
    errors = [line for line in run.out.splitlines() if line.startswith("ERROR: ")]
    assert len(errors) == 1, run.out
    assert "collected" not in run.out
    return errors[0]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            ["--model=smolm2"],
            (
                "--model: unknown model 'smolm2'. Did you mean 'smollm2'? Known: smollm2, qwen; "
                "or hf:<id-or-path>, openai:<model>@<base_url>"
            ),
        ),
        (
            ["--limit=none"],
            "--limit: must be a positive whole number or a fraction between 0 and 1, got 'none'",
        ),
        (["--limit=0"], "got '0'"),
        (["--eval-limit=-1"], "got '-1'"),
        (["--eval-mode=pll"], "--eval-mode: must be gen, ppl or ll, got 'pll'"),
        (["--mode=score"], "--mode: must be all, infer, eval or viz, got 'score'"),
        (["--eval-wrong=skip"], "--eval-wrong: must be fail or xfail, got 'skip'"),
        (["--eval-show-wrong=x"], "--eval-show-wrong: must be a whole number, got 'x'"),
        (["--eval-strict", "--eval-wrong=xfail"], "--eval-strict with --eval-wrong=xfail"),
        ([OPENAI, "--eval-mode=ppl"], "backend 'openai' of model 'm' gives no token prob"),
        ([OPENAI, "--eval-mode=ll"], "Use --eval-mode=gen, or a model with backend 'hf'"),
        ([OPENAI, OPENAI], "two models would share the column 'm'"),
        (["--eval-set=quiz"], "'quiz' is not BENCHMARK.FIELD=VALUE"),
        (["--reuse"], "no run 'latest' in"),
        (["--reuse", "benchmarks/"], "--reuse: no run 'benchmarks/' in"),
        (["--reuse=benchmarks/"], "Give 'latest' or a run's timestamp (YYYYMMDD_HHMMSS)"),
        (["--mode=eval"], "There are no runs"),
        (["--mode=viz"], "There are no runs"),
        (["--work-dir=pyproject.toml", OPENAI], "can't make a run directory in"),
    ],
)
def test_options(project: Project, args: list[str], message: str) -> None:
    assert message in usage_error(project, *args)


@pytest.mark.parametrize(
    "args", [["--model=smolm2"], ["--limit=x"], ["--reuse", "benchmarks/"]], ids=str
)
def test_the_same_with_workers(project: Project, args: list[str]) -> None:
    alone = usage_error(project, *args)
    assert usage_error(project, "-n2", *args) == alone


def test_the_source_is_named(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALPLUG_LIMIT", "many")
    assert "environment variable EVALPLUG_LIMIT: must be" in usage_error(project)
    monkeypatch.delenv("EVALPLUG_LIMIT")
    project.add("pyproject.toml", 'evalplug_limit = "few"\n')
    assert "ini option evalplug_limit: must be" in usage_error(project)
    assert project.run("--limit=1").outcomes == {"passed": 1}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ('[tool.evalplug.models.own]\nbackend = "hff"\n', "Known: hf, openai"),
        ('[tool.evalplug.models.own]\nbackend = "openai"\n', "model is missing"),
        (
            '[tool.evalplug.models.own]\nbackend = "hf"\nmodel = "m"\ngeneration.temprature = 0\n',
            "generation has no parameter 'temprature'. Did you mean 'temperature'?",
        ),
        ("[tool.evalplug]\nmodels = 3\n", "tool.evalplug.models is no table"),
        ("[tool.evalplug.model.own]\n", "unknown key 'model' in [tool.evalplug]"),
    ],
)
def test_model_tables(project: Project, table: str, message: str) -> None:
    project.data([right(1)])
    project.write("pytest.ini", "[pytest]\naddopts = -p no:randomly\n")
    project.write("pyproject.toml", table)
    assert message in usage_error(project, "--model=own")


def test_overrides_that_fit_no_field(project: Project) -> None:
    project.data([right(1)])
    run = project.run("--eval-set=quiz.few_shot=1")
    assert run.outcomes == {"errors": 1}
    assert "few_shot_num" in run.out
    assert "Traceback" not in run.out


def test_overrides_of_no_benchmark(project: Project) -> None:
    project.data([right(1)])
    run = project.run("--eval-set=quizz.few_shot_num=0")
    assert run.ret == 1
    assert run.outcomes == {"errors": 1}
    assert "--eval-set: there is no benchmark 'quizz' here. Did you mean 'quiz'?" in run.out
    assert project.asked() == []
