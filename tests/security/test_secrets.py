"""Keys stay in memory: a server, a user's code and pytest all try to show them."""

from __future__ import annotations

import base64
import json
import logging
import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from pytest_evalplug.model.spec import ModelSpec, resolve_model
from tests.e2e.project import HEAD, Project
from tests.servers import Call, OpenAIServer, error, payload, raw

SECRETS = {
    "key of the environment": "sk-ENVkey1234567890abcdef",
    "header": "CUSTOMhdr99Zz01xy",
    "header api-key": "APIKEYhdr77Yy02xy",
    "header authorization": "AUTHhdr33Vv05longer",
    "password in the URL": "URLpass:w0rd@7Qk2",
    "query": "QUERYkeyQz8812xx",
    "signature": "SIGsig0099aabbcc",
    "body": "EXTRAkey55Xx03xy",
    "deep in the body": "EXTRApass44Ww04xy",
    "proxy": "PROXYpw88",
    "hub": "hf_HUBtoken1abcdefghijk",
}
MODELS = """
[tool.evalplug.models.m]
backend = "openai"
model = "m"
base_url = "http://usr:{password}@{host}/v1?api-key={query}&sig={signature}"
api_key_env = "MY_OWN"
headers = {{ x-custom = "{header}", api-key = "{api_key}" }}
extra_body = {{ api_key = "{body}", nested = {{ password = "{deep}" }} }}

[tool.evalplug.models.k]
backend = "openai"
model = "k"
base_url = "http://{host}/v1"
api_key_env = "MY_OWN"

[tool.evalplug.models.a]
backend = "openai"
model = "a"
base_url = "http://{host}/v1"
headers = {{ Authorization = "Bearer {authorization}" }}
"""
SUITE = (
    HEAD
    + """
import asyncio, os
from pytest_evalplug.model.base import GenerationParams
from pytest_evalplug.stash import RUN_CONFIG

class Base(DefaultDataAdapter):
    def record_to_sample(self, record):
        return Sample(input=record["q"], target=record["a"])

@register_benchmark(BenchmarkMeta(name="quiz", eval_cfg=dict(evaluator=dict(type="accuracy"))))
class Quiz(Base):
    def test_author(self, model, sample, evaluation):
        kept = model
        assert evaluation.pred == "never"

@register_benchmark(BenchmarkMeta(name="hooked", eval_cfg=dict(evaluator=dict(type="accuracy"))))
class Hooked(Base):
    def _on_inference(self, model, sample):
        raise RuntimeError(f"the hook fails with {os.environ['MY_OWN']}")

@register_benchmark(BenchmarkMeta(name="scored"))
class Scored(Base):
    def match_score(self, original_prediction, filtered_prediction, reference, task_state):
        environment = dict(os.environ)
        print("with", environment["MY_OWN"])
        raise ValueError(f"scoring fails with {environment['HF_TOKEN']}")

def test_plain(model_backend, request):
    print(os.environ)
    backend, config = model_backend, request.config.stash[RUN_CONFIG]
    spec = config.models[0]
    wire, options, parts = spec.to_wire(), vars(backend)["_options"], vars(backend)
    client = vars(backend._client)
    transport = vars(client["_transport"])

    async def ask():
        session = vars(client["_transport"]._session())
        reply, = await backend.generate(["reject me"], GenerationParams())
        await backend.aclose()
        raise reply

    asyncio.run(ask())
"""
)


def echoing(call: Call) -> Any:
    """Answer with all that was sent, in each way in which a server may."""
    echo = f"{json.dumps(call.headers)} ?{call.query} {json.dumps(call.body)}"
    kind = call.prompt.split()[0]
    if kind == "refuse":
        return error(401, f"Incorrect API key: {echo}")
    if kind == "reject":
        return payload({"error": {"message": f"bad request: {echo}"}}, 400)
    if kind == "page":
        return raw(f"<html>{echo}</html>".encode(), 400, "text/html")
    return f"You sent {echo}" if kind == "echo" else call.prompt.removeprefix("say ")


@pytest.fixture
def suite(project: Project, api_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> Project:
    api_server.script, api_server.models = echoing, ["m", "k", "a"]
    names = {name.rpartition(" ")[2].replace("-", "_"): s for name, s in SECRETS.items()}
    project.add(
        "pyproject.toml",
        MODELS.format(
            host=api_server.url.removeprefix("http://").removesuffix("/v1"),
            password=quote(SECRETS["password in the URL"], safe=""),
            deep=SECRETS["deep in the body"],
            body=SECRETS["body"],
            **{n: names[n] for n in ("query", "signature", "header", "api_key", "authorization")},
        ),
    )
    # the server is in this process, and notes each query in its own log
    monkeypatch.setattr(logging.getLogger("aiohttp.access"), "disabled", True)
    monkeypatch.setenv("MY_OWN", SECRETS["key of the environment"])
    monkeypatch.setenv("HF_TOKEN", SECRETS["hub"])
    monkeypatch.setenv("https_proxy", f"http://proxy:{SECRETS['proxy']}@127.0.0.1:9")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(project.path / "step.md"))
    project.write("conftest.py", "")
    project.write("test_quiz.py", SUITE)
    rows = [{"q": f"{verb} 1", "a": "1"} for verb in ("say", "echo", "reject", "page")]
    for name in ("quiz", "hooked", "scored"):
        project.data(rows, file=f"{name}/test")
    return project


def traces(text: str) -> list[str]:
    """Return the secrets of which ``text`` holds the whole, the start, or another form."""
    return [name for name, secret in SECRETS.items() if any(f in text for f in _forms(secret))]


def _forms(secret: str) -> list[str]:
    code = base64.b64encode(secret.encode()).decode().rstrip("=")[:-2]
    user = base64.b64encode(f"usr:{secret}".encode()).decode().rstrip("=")[:-2]
    return [secret, secret[:8], code, user, quote(secret, safe=""), json.dumps(secret)[1:-1]]


def written(folder: Path) -> dict[str, str]:
    """Return all that a run has left, but for what it was given."""
    given = {"pyproject.toml", "test_quiz.py"}
    return {
        str(path.relative_to(folder)): path.read_bytes().decode("utf-8", "replace")
        for path in folder.rglob("*")
        if path.is_file() and path.name not in given and path.suffix != ".pyc"
    }


@pytest.mark.parametrize("mode", [(), ("-n2",)], ids=["plain", "n2"])
def test_no_secret_is_shown_or_kept(suite: Project, mode: tuple[str, ...]) -> None:
    run = suite.run(
        *("--model=m", "--model=k", "--model=a", "--showlocals", "-vv", "--tb=long", "-rA"),
        *("--log-level=DEBUG", "--log-file=pytest.log", "--eval-json=dashboard.json"),
        *("--junitxml=junit.xml", "-o", "junit_logging=all", *mode),
    )
    assert run.outcomes["failed"] >= 3
    assert run.outcomes["errors"] >= 9
    assert "environment = {" in run.out
    assert traces(run.out) == []
    files = written(suite.path)
    assert files.keys() >= {"pytest.log", "dashboard.json", "junit.xml", "step.md"}
    assert sum("***" in text for text in files.values()) >= 6
    assert {name: found for name, text in files.items() if (found := traces(text))} == {}


def test_a_refused_key_is_not_shown(suite: Project) -> None:
    suite.data([{"q": "refuse 1", "a": "1"}])
    run = suite.run("--model=m", "-vv", "--showlocals", "--full-trace", "-k", "Quiz")
    assert "wants a key" in run.out
    assert traces(run.out) == []
    assert not any(map(traces, written(suite.path / "outputs").values()))


def test_an_internal_error_shows_none(suite: Project) -> None:
    config = suite.pytester.parseconfigure("--model=k")
    environment = dict(os.environ)
    try:
        raise ValueError(environment["MY_OWN"])
    except ValueError:
        error = pytest.ExceptionInfo.from_current()
    shown = error.getrepr(showlocals=True)
    assert traces(str(shown)) != []
    config.hook.pytest_internalerror(excrepr=shown, excinfo=error)
    assert "environment = {" in str(shown)
    assert traces(str(shown)) == []


def test_objects_show_none(caplog: pytest.LogCaptureFixture) -> None:
    spec = resolve_model("m", {"m": _table()})
    assert isinstance(spec, ModelSpec)
    backend = spec.create()
    logging.getLogger("x").warning("%r %r %r", spec, spec.options, backend)
    assert traces(f"{caplog.text} {spec} {spec.info} {spec.info.to_wire()}") == []


def _table() -> dict[str, Any]:
    return {
        "backend": "openai",
        "model": "m",
        "base_url": f"http://u:{SECRETS['password in the URL']}@host/v1?sig={SECRETS['query']}",
        "headers": {"x-any": SECRETS["header"]},
        "extra_body": {"deep": [{"token": SECRETS["body"]}]},
    }
