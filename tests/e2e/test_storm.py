"""Faults of all kinds at once: nothing is lost, nothing is asked twice, the rest costs the rest."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from tests.servers import OpenAIServer, api_server  # noqa: F401

from .project import Project, Run, right
from .storm import Storm, answer

MODEL = """
[tool.evalplug.models.m]
backend = "openai"
model = "fake"
base_url = "{url}"
concurrency = 128
timeout = 6
"""
ATTEMPTS = 6


def entries(run: Run, kind: str) -> list[str]:
    """Return the indices in a file, as often as they are there."""
    path = run.path / kind / "m" / "quiz.json"

    def pairs(found: list[tuple[str, Any]]) -> Any:
        return [name for name, _ in found] if found and found[0][0].isdigit() else dict(found)

    content = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=pairs)
    if kind == "predictions":
        assert isinstance(content, list)
        return content
    return [detail["index"] for detail in content["details"]]


@pytest.mark.parametrize(("samples", "mode"), [(2000, ()), (200, ("-n2",))], ids=["plain", "n2"])
def test_storm(
    project: Project,
    api_server: OpenAIServer,  # noqa: F811
    samples: int,
    mode: tuple[str, ...],
) -> None:
    storm = Storm(seed=7)
    prompts = [f"say {n}" for n in range(samples)]
    lost = storm.lost(prompts, ATTEMPTS)
    project.write("conftest.py", "")
    project.add("pyproject.toml", MODEL.format(url=api_server.url))
    project.data([right(n) for n in range(samples)])

    api_server.script = storm
    run = project.run("--model=m", *mode)
    assert run.ret == 1
    assert run.outcomes == {"passed": samples - len(lost), "errors": len(lost)}
    assert sorted(entries(run, "predictions"), key=int) == [str(n) for n in range(samples)]
    assert sorted(entries(run, "results"), key=int) == [str(n) for n in range(samples)]
    kept = run.predictions(model="m")
    assert {f"say {index}" for index, record in kept.items() if "error" in record} == lost
    assert storm.asked_again == []
    assert storm.answered == Counter(set(prompts) - lost)
    assert "Traceback" not in run.out

    if mode:
        api_server.script = answer
        asked = len(api_server.calls)
        again = project.run("--model=m", "--reuse")
        assert again.outcomes == {"passed": samples}
        assert sorted(api_server.prompts[asked:]) == sorted(lost)
