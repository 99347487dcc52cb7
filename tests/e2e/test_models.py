"""Which model is asked, and what happens when it can't be."""

from __future__ import annotations

import pytest

from pytest_evalplug.errors import ConfigError
from pytest_evalplug.model.spec import ModelSpec

from .project import CONFTEST, HEAD, QUIZ, Project, right, wrong

NO_MODEL = CONFTEST[: CONFTEST.index("@pytest.fixture(")]


def test_no_model_at_all(project: Project, mode: tuple[str, ...]) -> None:
    project.write("conftest.py", "")
    project.data([right(n) for n in range(20)])
    run = project.run(*mode)
    assert run.ret == 1
    assert "--model: no model to evaluate. Add --model=smollm2 or another" in run.out
    assert "Traceback" not in run.out
    assert run.outcomes["errors"] <= 2  # one a process


def test_a_backend_without_probabilities(project: Project, mode: tuple[str, ...]) -> None:
    project.write("conftest.py", CONFTEST.replace(', "loglikelihood"', ""))
    project.data([{**right(n), "choices": ["a", "b"]} for n in range(3)])
    run = project.run("--eval-mode=ppl", *mode)
    assert run.ret == 1
    assert run.outcomes == {"errors": 3}
    message = (
        "--eval-mode=ppl: backend 'fake' gives no token probabilities (capabilities: generate)"
    )
    assert run.out.count(f"\n{message}") == 3
    assert "Traceback" not in run.out
    assert project.asked() == []


def test_ll_and_ppl(project: Project) -> None:
    rows = [{"q": "say B", "a": "B", "choices": ["wrong", "right"]}] * 3
    project.data([*rows, {"q": "say A", "a": "B", "choices": ["wrong", "wrong"]}])
    run = project.run("--eval-mode=ll")
    assert run.outcomes == {"passed": 3, "wrong": 1}
    assert run.predictions()["0"]["pred_label"] == "B"
    assert run.result()["run"]["mode"] == "ll"
    assert "accuracy_norm" in run.result()
    again = project.run("--mode=eval", "-n2")  # in the run's own mode
    assert again.outcomes == run.outcomes
    assert again.result_text() == run.result_text()
    run = project.run("--eval-mode=ppl", "--eval-set=quiz.choice_template={choice}")
    assert run.outcomes == {"passed": 3, "wrong": 1}
    assert len(run.predictions()["0"]["ppl"]) == 2


def test_one_generation_parameter_from_the_command_line(project: Project) -> None:
    project.data([{"q": "max_tokens", "a": "32"}])
    assert project.run("--eval-set=quiz.generation.max_tokens=32").outcomes == {"passed": 1}
    assert project.run("--eval-set=quiz.generation.max_tokens=31").outcomes == {"wrong": 1}


def test_benchmarks_without_choices_are_skipped_in_ppl(project: Project) -> None:
    project.data([right(n) for n in range(3)])
    run = project.run("--eval-mode=ppl", "-rs")
    assert run.ret == 0
    assert run.outcomes == {"skipped": 1}
    assert "has no choices to compare in ppl mode" in run.line("SKIPPED")


def test_a_fatal_error_stops_the_run(project: Project, mode: tuple[str, ...]) -> None:
    project.data([{"q": "fatal the key is wrong", "a": "x"} for _ in range(40)])
    run = project.run(*mode)
    assert run.ret == 1
    assert 1 <= run.outcomes["errors"] <= 2  # one a process
    assert "the key is wrong" in run.out
    assert "Traceback" not in run.out
    assert len(project.asked()) <= 8


def test_a_model_fixture_that_raises(project: Project) -> None:
    project.write(
        "conftest.py",
        CONFTEST.replace("    return Fake()", "    raise OSError('no such weights')"),
    )
    project.data([right(n) for n in range(3)])
    run = project.run()
    assert run.ret == 1
    assert run.outcomes == {"errors": 3}
    assert "no such weights" in run.out


def test_a_model_fixture_with_options(project: Project) -> None:
    """The user's fixture stands for the one --model; its fixtures are its own."""
    project.write(
        "conftest.py",
        NO_MODEL
        + """
@pytest.fixture(scope="session")
def weights(tmp_path_factory):
    yield "w"
    note(["closed"])

@pytest.fixture(scope="session")
def model_backend(weights):
    backend = Fake()
    backend.name = "mine"
    return backend
""",
    )
    project.data([right(1), right(2)])
    run = project.run()
    assert run.outcomes == {"passed": 2}
    assert run.result(model="mine")["accuracy"] == 100
    assert project.asked()[-1] == "closed"


@pytest.mark.parametrize("kind", ["module", "function"])
def test_the_model_is_there_for_ordinary_tests(project: Project, kind: str) -> None:
    project.data([right(1)])
    body = "(model): assert model.name == 'fake'\n"
    if kind == "module":
        project.write("test_ordinary.py", f"def test_model{body}")
    else:
        project.add("test_quiz.py", "    def test_model(self, model):\n        assert model.name\n")
    assert project.run().outcomes == {"passed": 2}


def test_a_reply_in_each_place_fails_alone(project: Project) -> None:
    project.data([right(0), {"q": "fail too hot", "a": "x"}, right(2), right(3)])
    run = project.run()
    assert run.outcomes == {"passed": 3, "errors": 1}
    assert run.predictions()["1"]["error"] == "too hot"
    assert "prediction" not in run.predictions()["1"]


def test_an_exception_fails_its_batch_with_one_line(project: Project) -> None:
    project.data([right(0), {"q": "raise out of luck", "a": "x"}, right(2), right(3)])
    run = project.run()
    assert run.ret == 1
    assert "\nmodel 'fake': RuntimeError: out of luck\n" in run.out
    assert "Traceback" in (run.path / "logs/infer/main.log").read_text()


def test_the_model_is_asked_ahead_in_batches(project: Project) -> None:
    project.write(
        "conftest.py", CONFTEST.replace("        note(prompts)", "        note([len(prompts)])")
    )
    project.data([right(n) for n in range(40)])
    assert project.run().outcomes == {"passed": 40}
    sizes = [int(size) for size in project.asked()]
    assert sum(sizes) == 40
    assert sizes.count(4) >= 9


def test_a_stopped_run_asks_no_further(project: Project) -> None:
    project.data([wrong(1), *[{"q": f"wait 0.0{n}", "a": "x"} for n in range(200)]])
    run = project.run("-x")
    assert run.outcomes == {"wrong": 1}
    assert len(project.asked()) <= 40


def test_a_fixture_stands_for_the_one_model_that_is_named(
    project: Project, mode: tuple[str, ...]
) -> None:
    project.data([right(0), wrong(1), right(2)])
    run = project.run("--model=hf:foo", *mode)
    assert run.ret == 0
    assert run.outcomes == {"passed": 2, "wrong": 1}
    assert sorted(project.asked()) == ["say 0", "say 1", "say 2"]
    result = run.result(model="foo")
    assert result["run"]["num_scored"] == 3
    assert len(run.predictions(model="foo")) == 3
    again = project.run("--model=hf:foo", "--reuse", *mode)
    assert project.asked() == []
    assert again.result(model="foo")["accuracy"] == result["accuracy"]


def test_what_a_server_says_does_not_steer_the_terminal(project: Project) -> None:
    text = "fatal \x1b[2Jgone"
    project.data([{"q": text, "a": "x"}])
    project.write("test_quiz.py", QUIZ.replace("input=record", 'input="" + record'))
    run = project.run()
    assert run.ret == 1
    assert "\\x1b[2Jgone" in run.out
    assert "\x1b[2J" not in run.out


def test_what_a_model_s_loading_says_does_not_steer_the_terminal(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(spec: ModelSpec) -> None:
        raise ConfigError("weights \x1b[2Jgone")

    monkeypatch.setattr(ModelSpec, "create", broken)
    project.write("conftest.py", "")
    project.data([right(0)])
    run = project.run("--model=hf:one")
    assert run.outcomes == {"errors": 1}
    assert "\\x1b[2Jgone" in run.out
    assert "\x1b[2J" not in run.out


def test_a_likelihood_that_is_no_number_is_an_error(project: Project) -> None:
    project.add(
        "conftest.py",
        """
class Broken(Fake):
    def loglikelihood(self, queries):
        return [
            [Choice(float("nan") if "NaN" in q.context else -1.0, 1) for _ in q.continuations]
            for q in queries
        ]

@pytest.fixture(scope="session")
def model_backend():
    return Broken()
""",
    )
    choices = {"a": "A", "choices": ["one", "two"]}
    project.data([{"q": "NaN", **choices}, {"q": "fine", **choices}])
    run = project.run("--eval-mode=ll")
    assert run.outcomes == {"passed": 1, "errors": 1}
    assert "not a finite number" in run.predictions()["0"]["error"]


def test_an_own_way_to_ask_is_skipped_where_choices_are_compared(project: Project) -> None:
    own = "    def _on_inference(self, model, sample):\n        return 'B'\n"
    project.add("test_quiz.py", own)
    project.data([{**right(0), "choices": ["a", "b"]}])
    run = project.run("--eval-mode=ll", "-rs")
    assert run.outcomes == {"skipped": 1}
    assert "asks in its own way" in run.line("SKIPPED")


def test_a_second_test_of_a_sample(project: Project) -> None:
    """It asks nothing again, also where there was an error, and counts nothing again."""
    project.add("test_quiz.py", "    def test_second(self, prediction):\n        pass\n")
    project.data([right(0), {"q": "fail it", "a": "x"}])
    assert project.run().outcomes == {"passed": 2, "errors": 2}
    assert sorted(project.asked()) == ["fail it", "say 0"]
    again = project.run("--reuse")
    assert project.asked() == ["fail it"]
    assert "1 saved predictions reused, 0 asked" in again.out


@pytest.mark.parametrize("stage", ["all", "infer"])
def test_a_model_is_closed_before_the_next_is_loaded(
    project: Project, monkeypatch: pytest.MonkeyPatch, stage: str
) -> None:
    """And its counts stay; a test gets the model that its sample is for."""
    events: list[str] = []

    class Local:
        capabilities = frozenset({"generate"})

        def __init__(self, name: str) -> None:
            self.name = name
            events.append(f"load {name}")

        def generate(self, prompts: list[str], params: object) -> list[str]:
            return [f"{self.name}{prompt}" for prompt in prompts]

        def close(self) -> None:
            events.append(f"close {self.name}")

    monkeypatch.setattr(ModelSpec, "create", lambda spec: Local(spec.name))
    project.write("conftest.py", "")
    project.add(
        "test_quiz.py",
        """
    def test_the_model(self, model, sample, request):
        assert model.name in request.node.name
        assert model.generate("x").completion == f"{model.name}x"
""",
    )
    project.data([right(0), right(1)])
    run = project.run("--model=hf:one", "--model=hf:two", f"--mode={stage}")
    assert events == ["load one", "close one", "load two", "close two"]
    wrong_ones = {"wrong": 4} if stage == "all" else {}
    assert run.outcomes == {"passed": 8 - len(wrong_ones) * 4, **wrong_ones}
    run = project.run("--model=hf:one", "--model=hf:two", f"--mode={stage}", "--reuse")
    assert "4 saved predictions reused, 0 asked" in run.out


LEAVING = (
    HEAD
    + """
class Leaving(BaseEvaluator):
    async def score_sample(self, prediction, reference):
        if reference == "score":
            raise SystemExit(3)
        return {"accuracy": 1.0, "correct": True}

@register_benchmark(BenchmarkMeta(name="quiz", eval_cfg=dict(evaluator=dict(type=Leaving))))
class Quiz(DefaultDataAdapter):
    def record_to_sample(self, record):
        return Sample(input=record["q"], target=record["a"])

    def format_prompt_template(self, sample):
        if sample.target == "prompt":
            pytest.skip("not now")
        return sample.input

    def _on_inference(self, model, sample):
        if sample.target == "hook":
            raise SystemExit(3)
        if sample.target == "fail":
            pytest.fail("never")
        return model.generate(sample.input)
"""
)


def test_author_code_that_skips_or_leaves_ends_its_own_sample(project: Project) -> None:
    project.write("test_quiz.py", LEAVING)
    places = ("fine", "prompt", "hook", "fail", "score", "fine")
    project.data([{"q": "say x", "a": place} for place in places])
    run = project.run("--eval-sample-timeout=60")
    assert run.outcomes == {"passed": 2, "skipped": 1, "errors": 3}
    assert "SystemExit: 3" in run.out
    assert "Failed: never" in run.out
