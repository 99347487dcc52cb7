"""What CI servers and dashboards get."""

from __future__ import annotations

import argparse
import json
import re
import shlex
from pathlib import Path
from typing import Any

import junitparser
import pytest

from pytest_evalplug.commands.merge import add_arguments
from pytest_evalplug.option_table import OPTIONS

from .project import Project, right, wrong

ROWS = [right(1), wrong(2), right(3), {"q": "fail tired", "a": "x"}]
GATES = ("--eval-gate=quiz/accuracy>=50", "--eval-gate=quiz<1")


def read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_junit_has_samples_scores_and_gates(project: Project, mode: tuple[str, ...]) -> None:
    project.data(ROWS)
    run = project.run("--junitxml=r.xml", *GATES, *mode)
    assert run.ret == 1
    assert run.outcomes == {"passed": 2, "wrong": 1, "errors": 1, "failed": 2}
    xml = junitparser.JUnitXml.fromfile(str(project.path / "r.xml"))
    suites: dict[str, Any] = {suite.name: suite for suite in xml}
    assert list(suites) == ["pytest", "evalplug summary"]
    for suite in xml:
        cases = list(suite)
        kinds = [type(result).__name__ for case in cases for result in case.result]
        assert suite.tests == len(cases)
        assert (suite.failures, suite.errors) == (kinds.count("Failure"), kinds.count("Error"))
    (score,) = suites["evalplug summary"]
    assert (score.classname, score.name) == ("evalplug.summary", "quiz accuracy [fake]")
    (properties,) = score.iterchildren(junitparser.Properties)
    assert {p.name: p.value for p in properties}["incomplete"] == "1 error"
    gates = [case for case in suites["pytest"] if case.classname == "evalplug.gates"]
    assert [gate.name for gate in gates] == ["quiz/accuracy>=50", "quiz<1"]


def test_strict_junit(project: Project) -> None:
    project.data(ROWS)
    project.run("--junitxml=out/r.xml", "--eval-junit=strict")
    text = (project.path / "out/r.xml").read_text(encoding="utf-8")
    assert "<propert" not in text
    assert "<system-out>model: fake\nprediction: 1\n" in text


def test_a_session_without_benchmarks_is_left_alone(project: Project) -> None:
    project.write("test_unit.py", "def test_unit(): pass\n")
    run = project.run("test_unit.py", "--junitxml=r.xml", "--eval-json=x.json", "--model=smollm2")
    assert run.ret == 0
    assert "evalplug" not in (project.path / "r.xml").read_text()
    assert not (project.path / "x.json").exists()


def test_json_for_dashboards(project: Project) -> None:
    project.data(ROWS)
    run = project.run("--eval-json=new/x.json", *GATES)
    found = read_json(project.path / "new/x.json")
    assert found["schema"] == 1
    assert found["path"] == str(run.path)
    assert found["exit"] == {
        "status": 1,
        "reason": "failed or not measured: 1, failed gates: 2",
        "wrong": 1,
        "failed": 1,
        "failed_gates": 2,
    }
    (row,) = found["rows"]
    assert row["scores"]["fake"]["value"] == pytest.approx(200 / 3)
    assert row["scores"]["fake"]["n"] == 3
    assert row["scores"]["fake"]["incomplete"] == "1 error"
    assert [gate["outcome"] for gate in found["gates"]] == ["failed", "failed"]
    assert found["started"] <= found["finished"]
    project.data([right(1), right(2)])
    project.run("--eval-json=x.json", "--limit=1", "--eval-shard=1/1")
    found = read_json(project.path / "x.json")
    assert found["exit"]["reason"] == "passed"
    assert found["shard"] == [1, 1]
    assert "partial run" in found["rows"][0]["scores"]["fake"]["incomplete"]


def test_a_file_that_can_not_be_written_fails_the_session(project: Project) -> None:
    project.data([right(1)])
    project.write("taken", "")
    run = project.run("--eval-json=taken/x.json")
    assert run.ret == 1
    assert "can't be written" in run.line("--eval-json: ")


def test_the_jobs_summary(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.data(ROWS)
    project.write(
        "conftest.py",
        (project.path / "conftest.py").read_text().replace('"fake"', '"a|<b>[x](y)`"'),
    )
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    project.write("summary.md", "before\n")
    project.run(*GATES)
    text = (project.path / "summary.md").read_text(encoding="utf-8")
    assert text.startswith("before\n### Evaluation ")
    assert r"a\|&#60;b&#62;&#91;x&#93;(y)&#96;" in text
    assert "- failed  quiz&#60;1: accuracy is 66.67" in text.replace("6667", "67")
    assert not set("<>[]`*") & set(text)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "gone/summary.md")
    project.data([right(1)])
    run = project.run()
    assert run.ret == 0
    assert "no job summary: can't write gone/summary.md: No such file" in run.out


DOCS = Path(__file__).parents[2] / "docs"
WORKFLOWS = sorted((DOCS / "examples").glob("*.yml"))


@pytest.mark.parametrize("path", [DOCS / "ci.md", *WORKFLOWS], ids=lambda path: path.name)
def test_documented_flags_exist(path: Path) -> None:
    known = {option.flag for option in OPTIONS}
    flags = set(re.findall(r"--eval-[a-z-]+", path.read_text(encoding="utf-8")))
    assert flags
    assert flags <= known


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_shard_and_merge(path: Path) -> None:
    workflow = pytest.importorskip("yaml").safe_load(path.read_text(encoding="utf-8"))
    jobs = workflow.get("jobs", workflow)
    shard, merge = (
        [
            *jobs[name].get("script", ()),
            *(step.get("run", "") for step in jobs[name].get("steps", ())),
        ]
        for name in ("shard", "merge")
    )
    part = {
        "github-actions": "${{ matrix.shard }}/${{ strategy.job-total }}",
        "gitlab-ci": "$CI_NODE_INDEX/$CI_NODE_TOTAL",
    }[path.stem]
    (run,) = (line for line in shard if line.startswith("pytest "))
    assert f" --eval-shard={part} " in run
    (join,) = (line for line in merge if line.startswith("evalplug merge "))
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    args = parser.parse_args(shlex.split(join)[2:])
    assert args.gate == ["gsm8k>=70"]
    assert [str(folder) for folder in args.runs] == ["shards"]
