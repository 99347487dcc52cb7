"""A user's own data file, without a module."""

from __future__ import annotations

import json

import pytest

from pytest_evalplug.cli import main

from .project import Project, Run, right

# the model obeys the last line of what it is asked: a template that adds none
PLAIN = "--eval-set={}.prompt_template={{question}}"
EXAM = "question,A,B,answer\nsay A,x,y,A\nsay B,x,y,A\nsay ANSWER: B,x,y,B\n"
SUMS = '{"question": "say 4", "answer": 4}\n{"question": "say 5", "answer": 4}\n'


@pytest.fixture
def custom(project: Project) -> Project:
    project.write("own/exam.csv", EXAM)
    project.write("own/sums.jsonl", SUMS)
    project.data([right(1)])
    return project


def ids(run: Run) -> list[str]:
    """Return the node ids of a -v run in their order of names."""
    return sorted({word for word in run.out.split() if "::" in word})


def test_a_file_is_a_benchmark(custom: Project) -> None:
    args = ["--eval-custom=own/exam.csv", PLAIN.format("exam")]
    run = custom.run(*args, "-v")
    assert run.ret == 0
    assert run.outcomes == {"passed": 2, "wrong": 1}
    item = "own/exam.csv::exam::test_sample[default-{}]"
    assert ids(run) == [item.format(n) for n in range(3)]
    assert run.result("exam")["accuracy"] == pytest.approx(200 / 3)
    assert sorted(custom.asked()) == ["say A", "say ANSWER: B", "say B"]

    failed = custom.run(*args, "--lf", "-v")
    assert ids(failed) == [item.format(1)]
    custom.asked()
    picked = custom.run(*args, "-k", "default-0 or default-1", "-x", "--reuse")
    assert (picked.ret, picked.outcomes) == (1, {"passed": 1, "wrong": 1, "deselected": 1})
    assert custom.asked() == ["say A"]  # --lf had asked for the other
    assert custom.run(*args, item.format(2)).outcomes == {"passed": 1}


def test_beside_other_arguments_and_shared_by_workers(custom: Project) -> None:
    outside = custom.path.parent / f"{custom.path.name}_outside"
    outside.mkdir()
    (outside / "far.csv").write_text("question,answer\nsay 1,1\n", encoding="utf-8")
    args = [
        "test_quiz.py",
        "own",
        "--eval-custom=own/exam.csv",
        "--eval-custom=sum=own/sums.jsonl",
        f"--eval-custom={outside / 'far.csv'}",
        *map(PLAIN.format, ("exam", "sum", "far")),
        "-v",
    ]
    alone, shared = custom.run(*args), custom.run(*args, "-n2")
    for run in (alone, shared):
        assert run.outcomes == {"passed": 5, "wrong": 2}
        assert run.result("exam")["accuracy"] == pytest.approx(200 / 3)
        assert run.result("sum")["exact_match"] == 50
        assert run.result("far")["exact_match"] == 100
    assert ids(alone) == ids(shared)
    assert f"{outside.as_posix()}/far.csv::far::test_sample[default-0]" in ids(alone)


def test_a_folder_is_compared_by_perplexity(custom: Project) -> None:
    custom.write("tests/law.csv", "question,right,wrong,answer\nq,x,y,right\n")
    custom.write("tests/art.csv", "question,right,wrong,answer\nq,x,y,wrong\n")
    custom.write("tests.meta.json", '{"options": ["right", "wrong"], "infer_method": "ppl"}')
    template = "--eval-set=tests.choice_template= {choice}ight"
    run = custom.run("--eval-custom=tests", "--eval-custom-type=mcq", template)
    assert run.outcomes == {"wrong": 1, "passed": 1}, run.out
    assert run.line("naive_average").split()[-2:] == ["ppl", "50.00"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--eval-custom=own/exams.csv"], "own/exams.csv. Give a file, or a folder of files: .jso"),
        (["--eval-custom=own/sums.jsonl", "--eval-custom-type=mcq"], "needs a column 'A'. Known: "),
        (["--eval-custom=own/sums.jsonl", "--eval-custom-infer=ppl"], "nothing to compare"),
        (["--eval-custom-infer=ll"], "--eval-custom-infer: must be gen or ppl, got 'll'"),
        (["--eval-custom-type=qa"], "--eval-custom-type: there is no data"),
    ],
)
def test_mistakes_are_said_at_once(args: list[str], message: str, custom: Project) -> None:
    run = custom.run(*args)
    assert run.ret == 4
    assert message in run.line("ERROR: ")
    assert not custom.runs


def test_an_ini_file_s_paths_start_there(custom: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    custom.add("pyproject.toml", '\nevalplug_custom = ["own/sums.jsonl"]\n')
    monkeypatch.chdir(custom.path / "own")
    run = custom.run(PLAIN.format("sums"))
    assert run.outcomes == {"passed": 1, "wrong": 1}


def test_saved_replies_are_scored_without_naming_the_file(custom: Project) -> None:
    args = ["--eval-custom=own/exam.csv", PLAIN.format("exam")]
    custom.run(*args, "--mode=infer", "own/exam.csv")
    custom.asked()
    run = custom.run("--mode=eval", "own")
    assert run.outcomes == {"passed": 2, "wrong": 1}
    assert custom.asked() == []


@pytest.mark.parametrize("more", [(), ("-n2",), ("--mode=eval",)])
def test_a_run_is_gone_on_with_without_naming_the_file(
    more: tuple[str, ...], custom: Project
) -> None:
    outside = custom.path.parent / f"{custom.path.name}_outside"
    outside.mkdir()
    (outside / "exam.csv").write_text(EXAM, encoding="utf-8")
    prompt = PLAIN.format("exam")
    custom.run(f"--eval-custom={outside / 'exam.csv'}", prompt)
    custom.asked()
    run = custom.run("--reuse", prompt, *more)
    assert (run.ret, run.outcomes) == (0, {"passed": 2, "wrong": 1})
    assert custom.asked() == []


def test_other_benchmarks_of_the_run_are_gone_on_with_too(custom: Project) -> None:
    prompt = PLAIN.format("exam")
    custom.run("test_quiz.py", "--eval-custom=own/exam.csv", prompt)
    custom.asked()
    assert custom.run("--reuse", prompt).outcomes == {"passed": 3, "wrong": 1}
    assert custom.run("test_quiz.py", "--reuse").outcomes == {"passed": 1}
    assert custom.asked() == []


def test_shards_are_merged(custom: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = str(custom.write("exams/art.csv", EXAM).parent)
    for part in "12":
        custom.run(f"--eval-custom={folder}", f"--eval-shard={part}/2", f"--work-dir=part{part}")
    monkeypatch.chdir(custom.path)
    parts = sorted(str(path) for path in custom.path.glob("part*/*") if path.is_dir())
    assert main(["merge", *parts]) == 0
    [merged] = custom.runs
    result = json.loads((merged / "results" / "fake" / "exams.json").read_text("utf-8"))
    assert result["run"]["num_samples"] == 3
