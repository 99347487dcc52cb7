"""What a benchmark's author may write in the class."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .project import HEAD, Project, right, wrong

START = (
    HEAD
    + """
import asyncio, pathlib
from pytest_evalplug import *
from pytest_evalplug.types import ModelOutput

@register_benchmark(BenchmarkMeta(name="quiz"))
class Quiz(DefaultDataAdapter):
    def record_to_sample(self, record):
        return Sample(input=record["q"], target=record["a"])
"""
)


def write(project: Project, body: str) -> None:
    lines = (f"    {line}" if line.strip() else line for line in body.splitlines())
    project.write("test_quiz.py", START + "\n".join(lines) + "\n")


def test_init_with_kwargs(project: Project, every_mode: tuple[str, ...]) -> None:
    write(
        project,
        """
def __init__(self, **kwargs):
    super().__init__(**kwargs)
    self.prompt_template = "ignore this\\n{question}"
    self.made = 1
    with open("made.txt", "a") as file:
        file.write("x")
def test_state(self):
    assert self.made == 1
""",
    )
    project.data([right(n) for n in range(5)])
    run = project.run(*every_mode)
    assert run.outcomes == {"passed": 6}
    assert project.asked()[0].startswith("ignore this\nsay ")
    made = (project.path / "made.txt").read_text()
    assert len(made) == (3 if "-n2" in every_mode else 1)  # the controller scores with its own


def test_own_test_with_the_prediction_alone(project: Project, mode: tuple[str, ...]) -> None:
    write(
        project,
        """
def test_sample(self, prediction, sample, tmp_path):
    assert prediction == sample.target

@pytest.mark.parametrize("number", [1, 2])
def test_ordinary(self, number):
    assert number

def test_second(self, prediction):
    pass
""",
    )
    project.data([right(1), wrong(2)])
    run = project.run(*mode)
    assert run.ret == 1
    assert run.outcomes == {"passed": 5, "failed": 1}
    assert run.result()["accuracy"] == 50
    assert sorted(project.asked()) == ["say 1", "say 2"]


def test_evaluation_in_an_own_test(project: Project) -> None:
    write(
        project,
        """
def test_sample(self, evaluation):
    assert evaluation.pred == "1"
    assert evaluation.reference == "1"
    assert evaluation.correct is True
    assert evaluation.score == {"accuracy": 1.0}
    evaluation.check()
""",
    )
    project.data([right(1)])
    assert project.run().outcomes == {"passed": 1}


def test_other_fixtures_when_only_the_evaluation_is_declared(
    project: Project, mode: tuple[str, ...]
) -> None:
    write(
        project,
        """
def test_sample(self, evaluation, request):
    assert request.getfixturevalue("sample") is evaluation.case.sample
    assert request.getfixturevalue("prediction") == evaluation.record["prediction"]
    evaluation.check()
""",
    )
    project.add(
        "conftest.py",
        """
@pytest.fixture
def evaluation(evaluation):
    assert evaluation.correct is not None
    return evaluation
""",
    )
    project.data([right(1), wrong(2)])
    assert project.run(*mode).outcomes == {"passed": 1, "wrong": 1}
    assert sorted(project.asked()) == ["say 1", "say 2"]


def test_the_model_beside_the_evaluation_joins_the_engine(project: Project) -> None:
    write(
        project,
        """
def test_sample(self, evaluation, model):
    assert type(model).__name__ == "ModelFacade"
    evaluation.check()
""",
    )
    project.data([right(1)])
    assert project.run().outcomes == {"passed": 1}


def test_a_skipped_further_test_takes_no_verdict_away(project: Project) -> None:
    write(
        project,
        """
def test_more(self, evaluation):
    assert evaluation.correct

@pytest.mark.skip
def test_skipped(self, evaluation):
    pass
""",
    )
    project.data([right(1), right(2)])
    run = project.run("-k", "more or skipped")
    assert run.outcomes == {"passed": 2, "skipped": 2, "deselected": 2}
    assert (run.result()["accuracy"], run.result()["run"]["num_skipped"]) == (100, 0)


def test_changing_one_score_changes_no_other(project: Project) -> None:
    write(
        project,
        """
def aggregate_scores(self, sample_scores):
    for sample_score in sample_scores:
        sample_score.score.value["accuracy"] *= 0.5
    return super().aggregate_scores(sample_scores)
""",
    )
    project.data([right(1), right(2), right(3)])
    run = project.run()
    assert run.result()["accuracy"] == 50
    assert [d["score"] for d in run.result()["details"]] == [{"accuracy": 1.0}] * 3


@pytest.mark.parametrize("kind", ["def", "async def"])
def test_own_inference(project: Project, kind: str) -> None:
    call = "await model.agenerate" if "async" in kind else "model.generate"
    write(
        project,
        f"""
{kind} _on_inference(self, model, sample):
    first = {call}("say one")
    assert first.completion == "one"
    if sample.input == "say 3":
        raise ValueError("no three")
    return {call}(sample.input, max_tokens=3)
""",
    )
    project.data([right(n) for n in range(4)])
    run = project.run()
    assert run.outcomes == {"passed": 3, "errors": 1}
    assert "ValueError: no three" in run.out
    assert "Traceback" not in run.out
    assert run.predictions()["1"]["prediction"] == "1"
    assert "no three" in run.predictions()["3"]["error"]
    assert sorted(project.asked()) == ["say 0", "say 1", "say 2", *["say one"] * 4]


def test_hooks_around_inference(project: Project) -> None:
    write(
        project,
        """
def _on_inference_start(self, model, sample):
    assert model.name == "fake"
    with open("started.txt", "a") as file:
        file.write(sample.input + "\\n")

def _on_inference_end(self, model, sample, model_output, output_dir):
    assert pathlib.Path(output_dir, "predictions").exists() or pathlib.Path(output_dir).exists()
    return ModelOutput(model_output.completion.upper())
""",
    )
    project.data([{"q": "say abc", "a": "ABC"}])
    run = project.run()
    assert run.outcomes == {"passed": 1}
    assert (project.path / "started.txt").read_text() == "say abc\n"
    assert run.predictions()["0"]["prediction"] == "ABC"


def test_own_extraction(project: Project) -> None:
    write(
        project,
        """
def extract_answer(self, prediction, task_state):
    assert task_state.sample.target == "4"
    return prediction.split(":")[-1]
""",
    )
    project.data([{"q": "say the answer:4", "a": "4"}])
    run = project.run()
    assert run.outcomes == {"passed": 1}
    assert run.result()["details"][0]["pred"] == "4"


def test_own_score_and_aggregation(project: Project) -> None:
    write(
        project,
        """
def match_score(self, original_prediction, filtered_prediction, reference, task_state):
    near = 1.0 if abs(int(filtered_prediction) - int(reference)) < 2 else 0.0
    return Score(
        value={"near": near, "exact": float(original_prediction == reference)},
        extracted_prediction=filtered_prediction,
    )

def aggregate_scores(self, sample_scores):
    values = [s.score.value["near"] for s in sample_scores]
    return [AggScore("best", max(values), "default", len(values), agg_method="max")]
""",
    )
    project.data([{"q": f"say {n}", "a": "0"} for n in range(4)])
    run = project.run()
    result = run.result()
    assert [detail["score"]["near"] for detail in result["details"]] == [1, 1, 0, 0]
    assert result["best"] == 1
    assert "accuracy" not in result


def test_a_scoring_exception_is_that_samples_error(project: Project) -> None:
    write(
        project,
        """
def match_score(self, original_prediction, filtered_prediction, reference, task_state):
    return Score(value={"accuracy": float(int(original_prediction) == int(reference))})
""",
    )
    project.data([right(1), {"q": "say what", "a": "2"}])
    run = project.run()
    assert run.outcomes == {"passed": 1, "errors": 1}
    assert run.result()["run"]["num_errors"] == 1
    assert "invalid literal" in run.out


def test_the_report_hook_runs_once_for_all_subsets(project: Project) -> None:
    write(
        project,
        """
def _on_generate_report_end(self, report, output_dir):
    with open("reported.txt", "a") as file:
        file.write(f"{report.model} {[(s.subset, s.value) for s in report.scores]}\\n")
""",
    )
    project.write(
        "test_quiz.py",
        (project.path / "test_quiz.py")
        .read_text()
        .replace('name="quiz"', 'name="quiz", subset_list=["a", "b"]'),
    )
    project.data([right(1)], "quiz/a/test")
    project.data([wrong(1)], "quiz/b/test")
    project.run()
    reported = (project.path / "reported.txt").read_text()
    assert reported == "fake [('a', 100.0), ('b', 0.0)]\n"


def test_shots_that_had_to_go_are_said(project: Project) -> None:
    project.add(
        "conftest.py",
        """
from pytest_evalplug.errors import TooLongError

class Short(Fake):
    def generate(self, prompts, params):
        return [TooLongError("too long") if len(p) > 20 else obey(p) for p in prompts]

@pytest.fixture(scope="session")
def model_backend():
    return Short()
""",
    )
    project.write(
        "test_quiz.py",
        (project.path / "test_quiz.py")
        .read_text()
        .replace('name="quiz"', 'name="quiz", train_split="train", few_shot_num=2'),
    )
    project.data([right(1), right(2)])
    project.data([right(10), right(11)], "quiz/train")
    run = project.run()
    assert run.outcomes == {"passed": 2}
    assert "quiz fake: 2 of 2 prompts were too long and were sent with fewer shots" in run.out
    assert run.predictions()["0"]["dropped_shots"] == 1


def test_hooks_after_scoring(project: Project, mode: tuple[str, ...]) -> None:
    write(
        project,
        """
def _on_generate_report(self, scores, model_name):
    with open("reported.txt", "a") as file:
        file.write(f"{model_name} {scores[0].metric} {scores[0].value}\\n")
    return Report("quiz", model_name, scores)
""",
    )
    project.add(
        "conftest.py",
        """
def pytest_evalplug_scored(item, evaluation):
    with open(HERE / "scored.txt", "a") as file:
        file.write(f"{item.name} {evaluation.pred}\\n")

def pytest_evalplug_finished(config, outcome):
    with open(HERE / "finished.txt", "a") as file:
        file.write(outcome.table.markdown())
""",
    )
    project.data([right(1), right(2)])
    project.run(*mode)
    scored = (project.path / "scored.txt").read_text().splitlines()
    assert sorted(scored) == ["test_sample[default-0] 1", "test_sample[default-1] 2"]
    assert (project.path / "reported.txt").read_text() == "fake accuracy 100.0\n"
    assert (project.path / "finished.txt").read_text().count("| dataset") == 1


def test_marks_and_fixtures_of_the_class(project: Project) -> None:
    source = START.replace("@register", '@pytest.mark.usefixtures("note")\n@register')
    project.write(
        "test_quiz.py",
        source
        + """
    @pytest.fixture(autouse=True)
    def own(self, request):
        self.seen = request.node.name

    def setup_method(self):
        self.ready = True

    def test_both(self, sample):
        assert self.ready
        assert self.seen == "test_both[default-0]"

    @pytest.mark.skip(reason="not now")
    def test_skipped(self, prediction):
        pass

@pytest.fixture
def note():
    with open("noted.txt", "a") as file:
        file.write("x")
""",
    )
    project.data([right(1)])
    assert project.run().outcomes == {"passed": 2, "skipped": 1}
    assert (project.path / "noted.txt").read_text() == "xx"


def test_several_choices_and_a_conversation(project: Project) -> None:
    project.write(
        "test_quiz.py",
        HEAD
        + """
@register_benchmark(BenchmarkMeta(name="quiz", system_prompt="Obey."))
class Quiz(MultiChoiceAdapter):
    def record_to_sample(self, record):
        return Sample(
            input=[{"role": "user", "content": record["q"]}],
            target=record["a"],
            choices=["one", "two"],
        )
""",
    )
    project.data([{"q": "say B", "a": "B"}])
    run = project.run("--eval-set=quiz.prompt_template={question}")
    assert run.outcomes == {"passed": 1}
    (asked,) = project.asked()
    assert [message["role"] for message in json.loads(json.dumps(asked))] == ["system", "user"]


def test_own_run_of_inference(project: Project) -> None:
    write(
        project,
        """
def run_inference(self, model, sample, output_dir="", **kwargs):
    output = model.generate(sample.input)
    return TaskState(
        model=model.name, sample=sample, messages=[], output=ModelOutput(output.completion * 2)
    )
""",
    )
    project.data([{"q": "say ab", "a": "abab"}])
    run = project.run()
    assert run.outcomes == {"passed": 1}
    assert run.predictions()["0"]["prediction"] == "abab"


EVALUATORS = """
from pytest_evalplug.evaluation.base import BaseEvaluator

class Length(BaseEvaluator):
    '''A corpus metric: no verdict, one number for the whole set.'''
    def score(self, predictions, references, test_set=None):
        assert [row["input"] for row in test_set] == [f"say {p}" for p in predictions]
        return {"length": float(sum(map(len, predictions)))}

class Near(BaseEvaluator):
    per_sample = True
    async def score_sample(self, prediction, reference, origin_prompt):
        await asyncio.sleep(0)
        assert origin_prompt.startswith("say")
        return {"correct": abs(int(prediction) - int(reference)) < 2, "near": 0.5}

class Broken(BaseEvaluator):
    def score(self, predictions, references):
        return {"share": 1 / 0}

class Absent(BaseEvaluator):
    def score(self, predictions, references, mink):
        return {"x": 1.0}
"""


def with_evaluator(project: Project, name: str) -> None:
    source = START.replace("@register_benchmark", EVALUATORS + "\n@register_benchmark")
    source = source.replace('name="quiz"', f'name="quiz", eval_cfg=dict(evaluator={name})')
    project.write("test_quiz.py", source)


def test_an_evaluator_of_the_whole_set(project: Project, mode: tuple[str, ...]) -> None:
    with_evaluator(project, "Length")
    project.data([right(n) for n in range(8, 12)])
    run = project.run(*mode)
    assert run.outcomes == {"passed": 4}
    assert run.result()["length"] == 6
    assert "6.00" in run.out


def test_an_evaluator_that_waits(project: Project) -> None:
    with_evaluator(project, "Near")
    project.data([{"q": "say 3", "a": "4"}, {"q": "say 3", "a": "9"}])
    run = project.run()
    assert run.outcomes == {"passed": 1, "wrong": 1}
    again = project.run("--mode=eval")
    assert again.outcomes == run.outcomes
    assert again.result_text() == run.result_text()


@pytest.mark.parametrize(
    ("name", "said"), [("Absent", "mink"), ("Broken", "in score: ZeroDivisionError: division by")]
)
def test_an_evaluator_that_fails(
    project: Project, mode: tuple[str, ...], name: str, said: str
) -> None:
    with_evaluator(project, name)
    project.data([right(1)])
    run = project.run(*mode)
    assert run.ret == 1
    assert run.outcomes == {"passed": 1}
    assert said in run.line("quiz fake: no metrics")
    assert "Traceback" not in run.out
    assert run.result()["run"]["num_scored"] == 1


def test_a_damaged_prediction_file(project: Project) -> None:
    project.data([right(1), right(2)])
    first = project.run()
    path = first.path / "predictions/fake/quiz.json"
    path.write_text("{")
    run = project.run("--reuse")
    assert run.ret == 0
    assert run.outcomes == {"passed": 2}  # what could not be read was asked again
    assert f"damaged: {path}.damaged: the prediction file can't be read" in run.out
    assert "Traceback" not in run.out
    assert Path(f"{path}.damaged").read_text() == "{"
    assert len(run.predictions()) == 2


def test_a_class_within_tests_the_same_samples(project: Project, mode: tuple[str, ...]) -> None:
    write(
        project,
        """
def test_extra(self, prediction):
    assert prediction
class TestMore:
    def test_length(self, prediction):
        assert len(prediction) < 9
    def test_right(self, evaluation):
        evaluation.check()
""",
    )
    project.data([right(n) for n in range(3)])
    run = project.run(*mode)
    assert run.outcomes == {"passed": 12}
    assert len(project.asked()) == 3
    assert run.result()["run"]["num_samples"] == 3
