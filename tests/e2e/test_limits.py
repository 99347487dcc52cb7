"""Budgets, rates and times that hold, alone and shared by workers."""

from __future__ import annotations

import json
import time

import pytest

from tests.servers import Call, OpenAIServer, api_server  # noqa: F401

from .project import HEAD, Project

MODEL = """
[tool.evalplug.models.api]
backend = "openai"
model = "m"
base_url = "{url}"
concurrency = 8
price = {{ prompt = 100, completion = 200 }}
"""


@pytest.fixture
def server(project: Project, api_server: OpenAIServer) -> OpenAIServer:  # noqa: F811
    """A server whose replies have 7 + 2 tokens each, of 0.0011 by the model's price."""
    project.write("conftest.py", "")
    project.add("pyproject.toml", MODEL.format(url=api_server.url))
    project.data([{"q": f"question {n}", "a": "x"} for n in range(60)])
    return api_server


def test_a_budget_stops_the_run_and_another_goes_on(project: Project, server: OpenAIServer) -> None:
    run = project.run("--model=api", "--eval-max-tokens=200")
    assert run.ret == 1
    assert len(server.calls) == 22
    assert run.outcomes == {"wrong": 22, "errors": 1}
    assert "the budget of 200 tokens is used up (198; the next request would go over it)" in run.out
    assert "38 errors" in run.line("scored")
    assert "partial run" in run.out
    assert run.line(" prompt +") == "api: 154 prompt + 44 completion tokens, 0.024 by its price"

    run = project.run("--model=api", "--reuse", "--eval-max-cost=1")
    assert run.ret == 0
    assert len(server.calls) == 60
    assert run.line("in this session") == (
        "api: of these 266 prompt + 76 completion tokens, 0.042 by its price in this session"
    )


def test_workers_share_a_budget_and_a_rate(project: Project, server: OpenAIServer) -> None:
    project.write("conftest.py", "from pytest_evalplug.model import rate\nrate.PERIOD_SECONDS = 2")
    project.add("pyproject.toml", "requests_per_minute = 40\n")
    times: list[float] = []

    def script(call: Call) -> str:
        times.append(time.monotonic())
        return "y"

    server.script = script
    run = project.run("--model=api", "--eval-max-cost=0.0445", "-n2")
    assert run.ret == 1
    assert len(times) == 40
    assert "the budget of 0.0445 is used up" in run.out
    assert max(times) - min(times) > 1  # 1.9 s; each on its own would need the half
    assert json.loads((run.path / "limits" / "rates-api.json").read_text())["requests"]["slots"]
    state = json.loads((run.path / "limits" / "budget.json").read_text())
    assert (state["models"]["api"][2], state["flight"]) == (40, {})


HANGING_MODEL = """
import asyncio
import pytest

class Fake:
    name = "fake"
    capabilities = frozenset({"generate"})
    concurrency = 4

    async def generate(self, prompts, params):
        await asyncio.sleep(600 if "hang" in str(prompts) else 0)
        return ["fine"]

@pytest.fixture(scope="session")
def model_backend():
    return Fake()
"""
HANGING = (
    HEAD
    + """
import time

@register_benchmark(BenchmarkMeta(name="slow"))
class Slow(DefaultDataAdapter):
    def record_to_sample(self, record):
        return Sample(input=record["q"], target=record["a"])

    def _on_inference(self, model, sample):
        if sample.target == "hook":
            time.sleep(600)
        return model.generate(sample.input)

    def match_score(self, original_prediction, filtered_prediction, reference, task_state):
        if reference == "score":
            time.sleep(600)
        return Score(value={"accuracy": float(original_prediction == reference)})
"""
)


def test_what_hangs_is_an_error_and_the_run_ends(project: Project) -> None:
    project.write("conftest.py", HANGING_MODEL)
    project.write("test_quiz.py", HANGING)
    rows = [{"q": "ask", "a": a} for a in ("fine", "hook", "score", "fine")]
    project.data([*rows, {"q": "hang", "a": "fine"}], file="slow/test")
    run = project.run("--eval-sample-timeout=3", "-n2", subprocess=True)
    assert run.outcomes == {"passed": 2, "errors": 3}
    details = run.result("slow")["details"]
    assert [(d["sample_id"], (d.get("error") or "")[:16]) for d in details] == [
        ("default-0", ""),
        ("default-1", "no reply within "),
        ("default-2", "no score within "),
        ("default-3", ""),
        ("default-4", "no reply within "),
    ]
