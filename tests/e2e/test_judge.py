"""Benchmarks that a model judges, with a judge behind a server."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.servers import Call, OpenAIServer, api_server, delay, error  # noqa: F401

from .project import HEAD, Project, Run, right, wrong

JUDGED = (
    HEAD
    + """
@register_benchmark(BenchmarkMeta(name="quiz", eval_cfg=dict(evaluator={evaluator})))
class Quiz(DefaultDataAdapter):
    def record_to_sample(self, record):
        return Sample(input=record["q"], target=record["a"])
"""
)
CASCADE = "dict(type='cascade', rule_evaluator='accuracy', llm_evaluator='llm', parallel={})"


class Judged:
    """The project, and a judge that calls what it likes CORRECT."""

    def __init__(self, project: Project, server: OpenAIServer) -> None:
        self.project, self.server = project, server
        self.says: Callable[[str], str] = lambda prompt: (
            "CORRECT" if "\nyes" in prompt else "INCORRECT"
        )
        server.script = self.reply

    def reply(self, call: Call) -> str:
        return self.says("\n".join(str(m["content"]) for m in call.body["messages"]))

    def write(self, evaluator: str) -> None:
        self.project.write("test_quiz.py", JUDGED.format(evaluator=evaluator))

    def run(self, *args: str) -> Run:
        return self.project.run(f"--judge-model=openai:judge@{self.server.url}", *args)


@pytest.fixture
def judged(
    project: Project,
    api_server: OpenAIServer,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> Judged:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    return Judged(project, api_server)


def test_a_judge_is_asked_once_for_each_reply(judged: Judged, mode: tuple[str, ...]) -> None:
    judged.write("'llm'")
    judged.project.data([{"q": f"say {w}", "a": "x"} for w in ("yes", "no", "yes!", "no!")])
    run = judged.run(*mode)
    assert run.ret == 0, run.out
    assert run.outcomes == {"passed": 2, "wrong": 2}
    assert "judge: 4 questions asked, 0 saved replies reused" in run.out
    assert len(judged.server.calls) == 4
    detail = run.result()["details"][0]
    assert detail["metadata"]["verdict"] == "CORRECT"

    judged.server.script = lambda call: pytest.fail("a judge is not paid twice")
    again = judged.project.run("--mode=eval", *mode)  # the run's own judge
    assert again.result_text() == run.result_text()
    assert "judge: 0 questions asked, 4 saved replies reused" in again.out
    saved = json.loads((run.path / "judgements" / "judge" / "quiz.json").read_text())
    assert sorted(entry["prediction"] for entry in saved.values()) == (
        ["CORRECT"] * 2 + ["INCORRECT"] * 2
    )


def test_judging_goes_on_ahead_of_the_items(judged: Judged) -> None:
    judged.write("'llm'")
    judged.project.data([{"q": f"say yes {n}", "a": "x"} for n in range(40)])
    judged.server.script = lambda call: delay(0.2, "CORRECT")
    assert judged.run().outcomes == {"passed": 40}
    assert judged.server.max_in_flight > 4


def test_a_reply_without_a_verdict_is_asked_again_once(judged: Judged) -> None:
    judged.write("'llm'")
    judged.project.data([{"q": "say yes", "a": "x"}, {"q": "say no", "a": "x"}])
    judged.says = lambda prompt: (
        "CORRECT" if "holds no verdict" in prompt and "\nyes" in prompt else "Hard to say."
    )
    run = judged.run()
    assert run.ret == 1
    assert run.outcomes == {"passed": 1, "errors": 1}
    assert "no verdict of the judge judge: 'Hard to say.'" in run.out
    assert "judge: no verdict on 1 samples; they count as errors" in run.out
    assert len(judged.server.calls) == 4


def test_without_a_judge_nothing_is_asked(judged: Judged) -> None:
    judged.write("'llm'")
    judged.project.data([right(0), right(1)])
    run = judged.project.run()
    assert run.outcomes == {"errors": 1}
    assert "its answers are judged by a model. Name one: --judge-model" in run.out
    assert judged.project.asked() == []
    assert judged.project.run("--mode=infer").outcomes == {"passed": 2}
    assert judged.run("--mode=eval").outcomes == {"wrong": 2}


def test_asking_the_model_alone_asks_no_judge(judged: Judged) -> None:
    judged.write("'llm'")
    judged.project.data([right(0), right(1)])
    assert judged.run("--mode=infer").outcomes == {"passed": 2}
    assert judged.server.calls == []


def test_a_judge_of_the_benchmarks_own(judged: Judged, mode: tuple[str, ...]) -> None:
    table = {"backend": "openai", "model": "own", "base_url": judged.server.url}
    judged.write(f"dict(type='llm', judge_model={table})")
    judged.project.data([{"q": f"say {w}", "a": "x"} for w in ("yes", "no")])
    run = judged.project.run(*mode)
    assert run.outcomes == {"passed": 1, "wrong": 1}
    assert "judge: 2 questions asked" in run.out
    again = judged.project.run("--mode=eval", *mode)
    assert again.result_text() == run.result_text()
    assert len(judged.server.calls) == 2
    assert {call.body["model"] for call in judged.server.calls} == {"own"}


def test_skipped_samples_are_not_asked_about(judged: Judged) -> None:
    judged.write("'llm'")
    judged.project.add(
        "conftest.py",
        """
def pytest_collection_modifyitems(items):
    items[0].add_marker(pytest.mark.skip)
""",
    )
    judged.project.data([{"q": f"say yes {n}", "a": "x"} for n in range(3)])
    assert judged.run().outcomes == {"passed": 2, "skipped": 1}
    assert len(judged.server.calls) == 2
    assert len(judged.project.asked()) == 2


def test_two_tests_of_a_sample_are_one_judgement(judged: Judged) -> None:
    judged.project.write(
        "test_quiz.py",
        JUDGED.format(evaluator="'llm'")
        + """
    def test_more(self, evaluation):
        assert evaluation.correct
""",
    )
    judged.project.data([{"q": f"say yes {n}", "a": "x"} for n in range(3)])
    judged.says = lambda prompt: "Hard to say."
    run = judged.run()
    assert run.outcomes == {"errors": 6}
    assert len(judged.server.calls) == 6  # each with a second try
    assert "judge: no verdict on 3 samples" in run.out


def test_the_verdict_of_rules_needs_no_judge(judged: Judged) -> None:
    judged.write(CASCADE.format(True))
    judged.project.data([right(0), wrong(1)])
    judged.says = lambda prompt: "Hard to say."
    run = judged.run()
    assert run.outcomes == {"passed": 1, "errors": 1}
    result = run.result()
    assert (result["accuracy"], result["judged"]) == (100.0, 0.0)
    assert "no verdict" in result["details"][0]["metadata"]["llm"]["error"]
    assert set(result["run"]["if_errors_wrong"]) == {"accuracy", "rule_accuracy"}


def test_a_mean_over_few_samples_weighs_little(judged: Judged) -> None:
    judged.project.write(
        "test_quiz.py",
        HEAD
        + f"""
@register_benchmark(BenchmarkMeta(
    name="quiz", subset_list=["a", "b"], eval_cfg=dict(evaluator={CASCADE.format(False)})))
class Quiz(DefaultDataAdapter):
    def record_to_sample(self, record):
        return Sample(input=record["q"], target=record["a"])
""",
    )
    judged.project.data([*map(right, range(9)), {"q": "say yes", "a": "x"}], "quiz/a/test")
    judged.project.data([{"q": f"say no {n}", "a": "x"} for n in range(4)], "quiz/b/test")
    run = judged.run()
    line = next(x for x in run.out.splitlines() if "llm_accuracy_weighted" in x)
    assert line.split()[-1] == "20.00"  # one of five


def test_what_is_wrong_with_a_judge_is_said_before_the_model_is_asked(judged: Judged) -> None:
    judged.project.data([right(0)])
    for evaluator, said in [
        ("dict(type='llm', prompt_template='Is {answer} right?')", "has no {prediction}"),
        ("dict(type='llm', generation=dict(temprature=0))", "no parameter 'temprature'"),
        ("dict(type='pairwise', baseline='nowhere')", "nowhere has predictions of no model"),
    ]:
        judged.write(evaluator)
        run = judged.run()
        assert run.outcomes == {"errors": 1}
        assert said in run.out
    assert judged.project.asked() == []


def test_headers_of_a_judge_stay_off_the_disk_and_are_sent_again(judged: Judged) -> None:
    judged.write("'llm'")
    judged.project.add(
        "pyproject.toml",
        f"""
[tool.evalplug.models.strict]
backend = "openai"
model = "j"
base_url = "{judged.server.url}"
headers = {{ X-Team = "s3cret" }}
""",
    )
    judged.project.data([{"q": "say yes", "a": "x"}])
    own = '{"headers": {"X-Api": "s3cret"}, "backend": "openai", "model": "m"}'
    run = judged.project.run(
        "--judge-model=strict",
        f'--eval-set=quiz.eval_cfg={{"evaluator": {{"type": "llm", "judge_model": {own}}}}}',
    )
    assert run.outcomes == {"passed": 1}
    for path in run.path.rglob("*"):
        assert not path.is_file() or b"s3cret" not in path.read_bytes(), path
    judged.write("dict(type='llm', labels=['CORRECT', 'INCORRECT', 'UNCLEAR'])")  # asks anew
    project = judged.project
    assert project.run("--mode=eval", "--eval-set=quiz.eval_cfg={}").ret in (0, 1)
    assert {call.headers.get("x-team") for call in judged.server.calls} == {"s3cret"}


def test_an_unknown_judge_is_a_usage_error(judged: Judged) -> None:
    judged.write("'llm'")
    judged.project.data([right(0)])
    run = judged.project.run("--judge-model=smolm2")
    assert run.ret == 4
    assert "--judge-model: unknown model 'smolm2'. Did you mean 'smollm2'?" in run.out


@pytest.mark.parametrize(("parallel", "asked"), [(False, 2), (True, 3)])
def test_cascade(judged: Judged, parallel: bool, asked: int) -> None:
    judged.write(CASCADE.format(parallel))
    judged.project.data([right(0), {"q": "say yes", "a": "y"}, wrong(1)])
    run = judged.run()
    assert run.outcomes == {"passed": 2, "wrong": 1}
    assert len(judged.server.calls) == asked
    result = run.result()
    assert result["accuracy"] == pytest.approx(200 / 3)
    assert result["rule_accuracy"] == pytest.approx(100 / 3)
    assert result["judged"] == pytest.approx(100 * asked / 3)
    assert result["llm_accuracy"] == pytest.approx(100 / asked)
    assert ("disagreement" in result) == parallel
    by_judge = result["details"][1]["metadata"]
    assert (by_judge["rule_correct"], by_judge["llm_correct"]) == (False, True)


def test_rubric_with_a_threshold(judged: Judged) -> None:
    judged.write("dict(type='rubric', rubric='Is it kind?', low=1, high=5)")
    judged.project.data([{"q": "say yes", "a": "-"}, {"q": "say no", "a": "-"}])
    judged.says = lambda prompt: "Fine.\nRating: [[4]]" if "\nyes" in prompt else "Rating: [[2]]"
    run = judged.run()
    assert run.outcomes == {"passed": 2}
    assert run.result()["rating"] == 3.0
    judged.write("dict(type='rubric', rubric='Is it kind?', low=1, high=5, threshold=3)")
    run = judged.run()
    assert run.outcomes == {"passed": 1, "wrong": 1}


def test_pairwise_swaps_the_order(judged: Judged) -> None:
    judged.write("'accuracy'")
    words = ["yes", "no", "same"]
    judged.project.data([{"q": f"say {word}", "a": "-"} for word in words])
    baseline = judged.project.run().path
    judged.project.data([{"q": f"say {w}", "a": "-"} for w in ("yes indeed", "no more", "same")])
    judged.write(f"dict(type='pairwise', baseline='{baseline}')")

    def prefers(prompt: str) -> str:
        first, second = prompt.split("Reply of A")[1].split("Reply of B")
        if "no" in first and "no more" not in first:
            return "[[A]]"
        if "no" in second and "no more" not in second:
            return "[[B]]"
        return "[[A]]" if "indeed" in first else "[[B]]" if "indeed" in second else "[[A]]"

    judged.says = prefers
    run = judged.run()
    assert run.outcomes == {"passed": 3}
    result = run.result()
    assert len(judged.server.calls) == 5  # the orders of two equal replies are one question
    assert [d["metadata"]["verdicts"] for d in result["details"]] == ["AB", "BA", "AA"]
    names = ("win_rate", "win", "tie", "loss", "order_bias")
    third = pytest.approx(100 / 3)
    assert [result[name] for name in names] == [50.0, third, third, third, third]


def test_llm_match_score_of_an_adapter(judged: Judged) -> None:
    judged.project.write(
        "test_quiz.py",
        HEAD
        + """
@register_benchmark(BenchmarkMeta(name="quiz"))
class Quiz(DefaultDataAdapter):
    def record_to_sample(self, record):
        return Sample(input=record["q"], target=record["a"])

    def llm_match_score(self, original_prediction, filtered_prediction, reference, task_state):
        if filtered_prediction == "mine":
            reply = self.judge.generate("yes or no?\\nyes")
            return Score({"accuracy": float(reply == "CORRECT")})
        return super().llm_match_score(
            original_prediction, filtered_prediction, reference, task_state
        )
""",
    )
    judged.project.data([{"q": f"say {w}", "a": "x"} for w in ("mine", "yes", "no")])
    assert judged.run().outcomes == {"passed": 2, "wrong": 1}
    assert len(judged.server.calls) == 3


def test_a_judge_that_refuses_the_key_is_one_clear_error_a_sample(judged: Judged) -> None:
    judged.write("'llm'")
    judged.project.data([{"q": f"say {n}", "a": "x"} for n in range(30)])
    judged.server.script = lambda call: error(401, "bad key")
    run = judged.run()
    assert run.ret == 1
    assert len(judged.server.calls) < 20  # what was in flight, not all of them
    assert run.outcomes == {"errors": 1}  # and then no further model requests
    assert "401" in run.out
