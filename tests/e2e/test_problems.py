"""What is wrong with a benchmark is one line at one placeholder; the others go on."""

from __future__ import annotations

import pytest

from .project import HEAD, QUIZ, Project, right


def test_missing_data(project: Project, mode: tuple[str, ...]) -> None:
    project.data([right(1)], "other/test")
    project.write("test_other.py", QUIZ.replace('"quiz"', '"other"'))
    run = project.run(*mode)
    assert run.ret == 1
    assert run.outcomes == {"passed": 1, "errors": 1}
    place = project.path / "data/quiz/test.jsonl"
    errors = run.out.partition("= ERRORS =")[2].partition("= evaluation summary =")[0]
    problem = [line for line in errors.splitlines() if "no data for quiz" in line]
    assert len(problem) == 1
    assert f"not at {place}" in problem[0]
    assert "--data-dir" in problem[0]
    assert "EVALPLUG_DATA_DIR" in problem[0]
    assert "Traceback" not in run.out
    assert "conftest.py:" not in run.out
    assert run.result("other")["accuracy"] == 100


def test_some_subsets_are_missing(project: Project) -> None:
    project.write(
        "test_quiz.py", QUIZ.replace('name="quiz",', 'name="quiz", subset_list=["a", "b", "c"],')
    )
    project.data([right(1), right(2)], "quiz/a/test")
    project.data([right(3)], "quiz/c/test")
    run = project.run("-n2")
    assert run.outcomes == {"passed": 3, "errors": 1}
    assert "quiz fake: no average, 2 of 3 subsets have a result; missing: b" in run.out
    assert "test_sample[b-missing]" in run.out
    assert run.result("quiz-a")["accuracy"] == run.result("quiz-c")["accuracy"] == 100


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('type="accuracy"', 'type="acuracy"', "Did you mean 'accuracy'?"),
        (
            "ACCURACY = dict(",
            'ACCURACY = dict(pred_postprocessor=dict(type="last-numer"), ',
            "Did you mean 'last-number'?",
        ),
        ("ACCURACY = dict(", 'ACCURACY = dict(evaluater="accuracy", ', "evaluater"),
        ('input=record["q"]', 'input=record["question"]', "question"),
        ("return Sample(", "raise KeyError('boom')\n        return Sample(", "boom"),
        ("def record_to_sample", "def record_to_samples", "record_to_sample"),
        (
            "    def record_to_sample",
            (
                "    def __init__(self, **kwargs):\n        raise RuntimeError('no luck')\n\n"
                "    def record_to_sample"
            ),
            "no luck",
        ),
        (
            "    def record_to_sample",
            (
                "    def sample_filter(self, sample):\n        return 1 / 0\n\n"
                "    def record_to_sample"
            ),
            "division by zero",
        ),
        (
            "    def record_to_sample",
            (
                "    def match_score(self, original_prediction, filtered_prediction, reference,"
                " task_state):\n        return Score(value={'x': 1})\n\n    def record_to_sample"
            ),
            "match_score",
        ),
    ],
)
def test_an_authors_mistake_is_one_line(project: Project, old: str, new: str, message: str) -> None:
    project.data([right(1), right(2)])
    project.data([right(1)], "other/test")
    project.write("test_quiz.py", QUIZ.replace(old, new))
    project.write("test_other.py", QUIZ.replace('"quiz"', '"other"'))
    run = project.run()
    assert run.ret == 1
    assert run.outcomes == {"passed": 1, "errors": 1}
    assert message in run.out
    assert "Traceback" not in run.out
    assert "fixtures.py" not in run.out


def test_the_data_says_which_line(project: Project) -> None:
    path = project.write("data/quiz/test.jsonl", '{"q": "say 1", "a": "1"}\n{"q": \n')
    run = project.run()
    assert run.outcomes == {"errors": 1}
    assert f"{path}:2: not a JSON value" in run.out


def test_hidden_labels_are_refused(project: Project) -> None:
    project.data([{"q": "say 1", "a": ""}, {"q": "say 2", "a": ""}])
    assert project.run().outcomes == {"errors": 1}
    assert not project.asked()


def test_two_benchmarks_of_one_name(project: Project, mode: tuple[str, ...]) -> None:
    project.data([right(1), right(2)])
    project.write("test_same.py", QUIZ)
    run = project.run(*mode)
    assert run.ret == 1
    assert run.outcomes == {"passed": 2, "errors": 1}
    assert "benchmark name 'quiz' is taken by Quiz in" in run.out


def test_two_benchmarks_with_one_data_set_name(project: Project) -> None:
    quiz = QUIZ.replace('name="quiz"', 'name="quiz", subset_list=["a-b", "c"]')
    project.write("test_quiz.py", quiz)
    other = QUIZ.replace('name="quiz"', 'name="quiz-a", subset_list=["b", "d"]')
    project.write("test_second.py", other)
    for subset in ("a-b", "c"):
        project.data([right(1)], f"quiz/{subset}/test")
    run = project.run()
    assert run.outcomes == {"passed": 2, "errors": 1}
    assert "benchmarks 'quiz-a' and 'quiz' both have a dataset 'quiz-a-b'" in run.out


def test_only_what_is_decorated_here_is_collected(project: Project) -> None:
    project.data([right(1)])
    project.write(
        "test_more.py",
        HEAD
        + """
from test_quiz import Quiz
class TestUndecorated(Quiz):
    pass
class TestAbstract(DefaultDataAdapter):
    pass
""",
    )
    run = project.run("--collect-only", "-q")
    assert [line for line in run.out.splitlines() if "::" in line] == [
        "test_quiz.py::Quiz::test_sample[default-1]".replace("default-1", "default-0")
    ]


def test_what_fails_at_the_very_end_costs_no_score(project: Project) -> None:
    """A model that can't be closed, and a disk that has turned read-only once all is written."""
    project.add(
        "conftest.py",
        """
async def aclose(self):
    raise RuntimeError("can't be closed")

Fake.aclose = aclose
removing = Path.unlink

def refuse(self, missing_ok=False):
    if self.name == "details-main.jsonl":
        raise OSError(30, "Read-only file system")
    removing(self, missing_ok)

def pytest_runtest_teardown(nextitem):
    if nextitem is None:
        Path.unlink = refuse

def pytest_evalplug_finished():
    Path.unlink = removing
""",
    )
    project.data([right(1), right(2)])
    run = project.run()
    assert run.ret == 0
    assert run.outcomes == {"passed": 2}
    assert "Read-only file system" in run.line("details-main.jsonl: can't be written")
    assert run.result()["accuracy"] == 100
    assert list(run.path.glob("summary/summary_*.json"))
    assert "can't be closed" in (run.path / "logs/infer/main.log").read_text()
