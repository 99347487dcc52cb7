"""Several models at once, behind a real server; and a server that is not there."""

from __future__ import annotations

import pytest

from tests.servers import OpenAIServer, api_server, error, free_port  # noqa: F401

from .project import Project, right, wrong

MODELS = """
[tool.evalplug.models.good]
backend = "openai"
model = "good-1"
base_url = "{url}"
api_key_env = "OWN_KEY"

[tool.evalplug.models.bad]
backend = "openai"
model = "bad-1"
base_url = "{url}"
pred_postprocessor = "last-number"
generation = {{ temperature = 0.7, max_tokens = 5 }}
"""


@pytest.fixture
def server(
    project: Project,
    api_server: OpenAIServer,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> OpenAIServer:
    """A server with two models: ``good`` says what it should, ``bad`` always "I say 1"."""
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("OWN_KEY", "own")
    project.write("conftest.py", "")
    project.add("pyproject.toml", MODELS.format(url=api_server.url))
    project.data([right(n) for n in range(10)])
    api_server.script = lambda call: (
        call.prompt.removeprefix("say ") if call.body["model"] == "good-1" else "I say 1"
    )
    return api_server


def test_one_column_for_each_model(
    project: Project, server: OpenAIServer, mode: tuple[str, ...]
) -> None:
    run = project.run("--model=good", "--model=bad", *mode)
    assert run.ret == 0, run.out
    assert run.outcomes == {"passed": 11, "wrong": 9}
    assert len(server.calls) == 20
    assert run.line("quiz       ").split()[-2:] == ["100.00", "10.00"]
    assert run.result(model="bad")["details"][0]["pred"] == "1"
    assert {call.body.get("temperature") for call in server.calls} == {0.0, 0.7}
    keys = {call.body["model"]: call.headers["authorization"] for call in server.calls}
    assert keys == {"good-1": "Bearer own", "bad-1": "Bearer k"}

    again = project.run("--mode=eval", *mode)
    assert again.outcomes == run.outcomes
    assert again.result_text(model="bad") == run.result_text(model="bad")
    assert again.result_text(model="good") == run.result_text(model="good")
    assert len(server.calls) == 20


def test_a_server_that_is_down(project: Project, server: OpenAIServer) -> None:
    port = free_port()
    project.write(
        "pyproject.toml",
        (project.path / "pyproject.toml")
        .read_text()
        .replace(server.url, f"http://127.0.0.1:{port}/v1")
        + "max_retries = 0\n",
    )
    run = project.run("--model=bad")
    assert run.ret == 1
    assert 1 <= run.outcomes["errors"] <= 2
    assert str(port) in run.out
    assert "Traceback" not in run.out


def test_a_wrong_key(project: Project, server: OpenAIServer) -> None:
    server.script = lambda call: error(401, "Incorrect API key provided")
    run = project.run("--model=good")
    assert run.ret == 1
    assert run.outcomes == {"errors": 1}
    assert "OWN_KEY" in run.out
    assert "Traceback" not in run.out


def test_one_refused_sample_is_one_error(project: Project, server: OpenAIServer) -> None:
    project.data([right(0), {"q": "bad words", "a": "x"}, wrong(2)])
    server.script = lambda call: (
        error(400, "content policy") if "bad" in call.prompt else call.prompt.removeprefix("say ")
    )
    run = project.run("--model=good")
    assert run.ret == 1
    assert run.outcomes == {"passed": 1, "wrong": 1, "errors": 1}
    assert "content policy" in run.predictions(model="good")["1"]["error"]


def test_requests_run_at_once(project: Project, server: OpenAIServer) -> None:
    from tests.servers import delay

    project.data([right(n) for n in range(64)])
    server.script = lambda call: delay(0.05, call.prompt.removeprefix("say "))
    run = project.run("--model=good")
    assert run.outcomes == {"passed": 64}
    assert server.max_in_flight == 32


def test_workers_share_the_limit(project: Project, server: OpenAIServer) -> None:
    from tests.servers import delay

    project.data([right(n) for n in range(64)])
    server.script = lambda call: delay(0.2, call.prompt.removeprefix("say "))
    run = project.run("--model=good", "-n2")
    assert run.outcomes == {"passed": 64}
    assert 16 <= server.max_in_flight <= 32
    assert len(server.calls) == 64
