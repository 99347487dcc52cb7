"""Faults of a model's server that decide how a run goes: what is kept, what is said."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from tests.http_faults import outage
from tests.servers import Action, Call, OpenAIServer, api_server, error  # noqa: F401

from .project import QUIZ, Project, Run, right

KEY = "geheim-0123456789abcdef"
SAMPLES = 40
BEFORE = 15
"""Requests until the fault."""
CONCURRENCY = 4
MODEL = """
[tool.evalplug.models.m]
backend = "openai"
model = "fake"
base_url = "{url}"
api_key_env = "OWN_KEY"
concurrency = 4
"""


@pytest.fixture
def server(
    project: Project,
    api_server: OpenAIServer,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> OpenAIServer:
    """Answers all samples as they ask."""
    monkeypatch.setenv("OWN_KEY", KEY)
    project.write("conftest.py", "")
    project.add("pyproject.toml", MODEL.format(url=api_server.url))
    project.data([right(n) for n in range(SAMPLES)])
    api_server.script = answer
    return api_server


def answer(call: Call) -> str:
    return call.prompt.removeprefix("say ")


def after(requests: int, act: Action, server: OpenAIServer) -> None:
    """Have the server answer so many requests, and meet all that follow with ``act``."""
    server.script = lambda call: answer(call) if len(server.calls) <= requests else act


def errors(run: Run, server: OpenAIServer) -> set[str]:
    """Return what is said of the model, each line once: every worker says its own."""
    return set(re.findall(rf"model m \({server.url}\): (.*\w)", run.out))


def kept(run: Run) -> set[str]:
    """Check how a run ended, and that no key is in its files; return what was answered."""
    assert run.ret == 1, run.out
    assert "Traceback" not in run.out
    assert KEY not in run.out
    for path in run.path.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path
    records = run.predictions(model="m").values()
    good = [record for record in records if "prediction" in record]
    assert all(record["prediction"] == record["gold"] for record in good)
    return {record["origin_prompt"] for record in good}


def goes_on(project: Project, server: OpenAIServer, kept: set[str]) -> None:
    """Check that ``--reuse`` asks for what is missing, and for nothing else."""
    server.script = answer
    asked = len(server.calls)
    run = project.run("--model=m", "--reuse")
    assert run.outcomes == {"passed": SAMPLES}
    missing = {f"say {n}" for n in range(SAMPLES)} - kept
    assert Counter(server.prompts[asked:]) == Counter(missing)


def test_a_key_that_expires(project: Project, server: OpenAIServer) -> None:
    after(BEFORE, error(401, f"no such key: {KEY}"), server)
    run = project.run("--model=m")
    (said,) = errors(run, server)
    assert said == "the key was refused: 401 no such key: ***. Check the key in OWN_KEY"
    assert run.outcomes["errors"] == 1
    assert len(kept(run)) == BEFORE
    assert len(server.calls) <= BEFORE + CONCURRENCY
    goes_on(project, server, kept(run))


def test_a_server_that_never_comes_back(project: Project, server: OpenAIServer) -> None:
    project.add("pyproject.toml", "max_retries = 1\n")
    after(BEFORE, outage(server, 3600.0), server)
    run = project.run("--model=m")
    (said,) = errors(run, server)
    assert said == (
        "cannot connect: Connection refused. "
        "Start the server, or correct base_url / OPENAI_BASE_URL"
    )
    assert run.outcomes["errors"] == 1
    answered = kept(run)
    assert BEFORE - CONCURRENCY <= len(answered) <= BEFORE  # the rest was on the way
    server.come_back()
    goes_on(project, server, answered)


def test_workers_outlast_an_outage_and_stop_at_a_key(
    project: Project, server: OpenAIServer
) -> None:
    """The server is away for three seconds; later the key expires."""
    answered: list[str] = []
    act = outage(server, 3.0)

    def script(call: Call) -> Action | str:
        if len(server.calls) == BEFORE:
            return act
        if len(answered) == 2 * BEFORE:
            return error(401, f"no such key: {KEY}")
        answered.append(call.prompt)
        return answer(call)

    server.script = script
    run = project.run("--model=m", "-n2")
    (said,) = errors(run, server)
    assert said == "the key was refused: 401 no such key: ***. Check the key in OWN_KEY"
    assert run.outcomes["errors"] <= 2  # each worker says so once
    arrived = kept(run)
    assert arrived <= set(answered)
    assert len(arrived) >= len(answered) - CONCURRENCY  # the outage may have taken some
    assert len(server.calls) <= len(answered) + 2 * CONCURRENCY


def test_an_unknown_model(project: Project, server: OpenAIServer) -> None:
    server.models = ["fakir", "other"]
    server.script = lambda call: error(404, "no model 'fake'")
    run = project.run("--model=m")
    (said,) = errors(run, server)
    assert said == (
        "no model 'fake' here: 404 no model 'fake'. Did you mean 'fakir'? Known: fakir, other"
    )
    assert run.ret == 1
    assert run.outcomes == {"errors": 1}
    assert len(server.calls) <= CONCURRENCY
    assert server.model_lists == 1


def test_a_prompt_that_is_too_long(project: Project, server: OpenAIServer) -> None:
    """It loses its shots until it fits; where it does not even then, that sample errs."""
    project.write(
        "test_quiz.py",
        QUIZ.replace('name="quiz"', 'name="quiz", train_split="train", few_shot_num=2'),
    )
    project.data([right(1), right(2)], "quiz/train")
    project.data([right(n) for n in (3, 10**100, 10**300, 4)])

    def script(call: Call) -> Action | str:
        length = len(call.prompt)
        if length > 120:
            return error(400, f"maximum context length is 120 tokens, not {length}")
        return call.prompt.rpartition("say ")[2]

    server.script = script
    run = project.run("--model=m")
    assert run.ret == 1
    assert run.outcomes == {"passed": 3, "errors": 1}
    records = run.predictions(model="m")
    assert [records[str(n)].get("dropped_shots", 0) for n in range(4)] == [0, 1, 0, 0]
    assert "Fewer few_shot_num or max_tokens make it fit" in records["2"]["error"]
    assert len(server.calls) == 1 + 2 + 3 + 1
