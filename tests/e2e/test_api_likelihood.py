"""``--eval-mode=ll`` through an API: one that scores prompts, and one that does not."""

from __future__ import annotations

from collections import Counter

import pytest

from pytest_evalplug.model.api_trial import TRIAL_TEXT
from tests.likelihood_server import scoring, toy_tokens, without_echo
from tests.servers import OpenAIServer, api_server  # noqa: F401

from .project import HEAD, Project

MODEL = """
[tool.evalplug.models.served]
backend = "openai"
api = "completions"
model = "fake"
base_url = "{url}"
"""
CHOICE = """
@register_benchmark(BenchmarkMeta(name="quiz", choice_prompt_template="{question} so"))
class Quiz(MultiChoiceAdapter):
    choice_template = " {choice}"

    def record_to_sample(self, record):
        return Sample(input=record["q"], target=record["a"], choices=record["choices"])
"""


@pytest.fixture
def server(
    project: Project,
    api_server: OpenAIServer,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> OpenAIServer:
    """A server to which what stands in the question is likely."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    project.write("conftest.py", "")
    project.add("pyproject.toml", MODEL.format(url=api_server.url))
    project.write("test_quiz.py", HEAD + CHOICE)
    project.data(
        [{"q": f"{n}: take A", "a": "AB"[n % 2], "choices": ["cat", "zebra"]} for n in range(4)]
    )
    api_server.script = scoring(toy_tokens)
    return api_server


def test_choices_are_compared(project: Project, server: OpenAIServer) -> None:
    run = project.run("--model=served", "--eval-mode=ll", "-n2")
    assert run.outcomes == {"passed": 2, "wrong": 2}, run.out
    record = run.predictions(model="served")["0"]
    assert (record["prediction"], record["logprobs"]) == ("A", [-0.5, -5.0])
    assert record["usage"] == {"prompt_tokens": 12, "completion_tokens": 2}  # of both requests
    asked = Counter(server.prompts)
    assert 1 <= asked.pop(TRIAL_TEXT) <= 2  # once in each process
    assert len(asked) == 8
    assert set(asked.values()) == {1}


def test_a_server_that_scores_nothing_is_found_out_first(
    project: Project, server: OpenAIServer
) -> None:
    server.script = scoring(toy_tokens, without_echo)
    run = project.run("--model=served", "--eval-mode=ppl")
    assert run.ret == 1
    assert run.outcomes == {"errors": 1}
    assert "no usable log-probabilities: the server ignores echo and logprobs" in run.out
    assert "Traceback" not in run.out
    assert server.prompts == [TRIAL_TEXT]
