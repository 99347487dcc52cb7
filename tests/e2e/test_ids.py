"""Items' names: readable, unique, safe, and the same everywhere."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from .project import HEAD, Project, right

SAFE = re.compile(r"test_quiz\.py::Quiz::test_sample\[([A-Za-z0-9_.-]{1,80})\]")
NASTY = ["a/b", "..", "line\nbreak", "🎉", "x" * 10_000, "same", "same", "[1]", "a::b", "\x1b[31m"]


def ids_of(out: str) -> list[str]:
    return re.findall(r"::test_sample\[(.*)\]", out)


def test_ids_are_safe_whatever_the_data_holds(project: Project) -> None:
    project.data([{**right(n), "id": text} for n, text in enumerate(NASTY)])
    run = project.run("--collect-only", "-q")
    lines = [line for line in run.out.splitlines() if "::" in line]
    assert all(SAFE.fullmatch(line) for line in lines), lines
    ids = ids_of(run.out)
    assert len(set(ids)) == len(NASTY)
    assert {"default-same", "default-same-6"} <= set(ids)
    assert project.run("--collect-only", "-q").out.split("\n\n")[0] == run.out.split("\n\n")[0]
    assert not project.runs


def test_ids_select_and_go_into_xml(project: Project) -> None:
    project.data([{**right(n), "id": text} for n, text in enumerate(NASTY)])
    run = project.run("-n2", "--junitxml=report.xml")
    assert run.outcomes == {"passed": len(NASTY)}
    suite = next(ElementTree.parse("report.xml").iter("testsuite"))
    names = {case.get("name") for case in suite.iter("testcase")}
    ids = ids_of(project.run("--collect-only", "-q").out)
    assert names == {f"test_sample[{name}]" for name in ids}
    assert project.run("-k", ids[2]).outcomes == {"passed": 1, "deselected": len(NASTY) - 1}
    assert project.run("-k", "line_break").outcomes["passed"] == 1


def test_one_record_may_be_several_samples(project: Project) -> None:
    project.write(
        "test_pair.py",
        HEAD
        + """
@register_benchmark(BenchmarkMeta(name="quiz"))
class Quiz(DefaultDataAdapter):
    def record_to_sample(self, record):
        return [Sample(input=record["q"], target=record["a"]) for _ in range(2)]
""",
    )
    (project.path / "test_quiz.py").unlink()
    project.data([right(0), right(1)])
    run = project.run("-v")
    assert ids_of(run.out.replace(" PASSED", "\n")) == [
        "default-0", "default-0.1", "default-1", "default-1.1"
    ]  # fmt: skip
    assert list(run.predictions()) == ["0", "0.1", "1", "1.1"]


def test_repeats_stand_at_the_end(project: Project) -> None:
    project.data([right(0), right(1)])
    assert ids_of(project.run("--collect-only", "-q", "--eval-set=quiz.repeats=2").out) == [
        "default-0-r0", "default-0-r1", "default-1-r0", "default-1-r1"
    ]  # fmt: skip
    run = project.run("--eval-set=quiz.repeats=2")
    assert run.outcomes == {"passed": 4}
    assert sorted(project.asked()) == ["say 0", "say 0", "say 1", "say 1"]
    assert list(run.predictions()) == ["0", "1", "2", "3"]
    assert run.result()["run"]["num_samples"] == 4
    assert not run.result()["run"]["partial"]


def test_models_stand_in_front(project: Project) -> None:
    project.data([right(0), right(1)])
    args = ("--model=openai:first@http://x/v1", "--model=openai:org/second@http://x/v1")
    run = project.run("--collect-only", "-q", *args)
    assert ids_of(run.out) == [
        "first-default-0", "first-default-1", "second-default-0", "second-default-1"
    ]  # fmt: skip
    one = project.run("--collect-only", "-q", args[0])
    assert ids_of(one.out) == ["default-0", "default-1"]
    assert not project.runs
