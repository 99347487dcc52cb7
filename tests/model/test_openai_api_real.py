from __future__ import annotations

import pytest

from pytest_evalplug.errors import FatalModelError
from pytest_evalplug.model.base import GenerationParams
from pytest_evalplug.types import ModelOutput
from tests.model.asking import ask, make
from tests.servers import RealServer


@pytest.mark.real_model
def test_a_real_server(real_server: RealServer) -> None:
    """One test: each process that ran a part of it would start a server of its own."""
    for api, question in (
        ("chat", "What is the capital of {}?"),
        ("completions", "The capital of {} is"),
    ):
        generates(real_server, api, question)
    stop_and_max_tokens_are_obeyed(real_server)
    with pytest.raises(FatalModelError, match="no model 'nosuch' here"):
        ask(make(real_server.base_url, model="nosuch", timeout=60.0), "hi")


def generates(server: RealServer, api: str, question: str) -> None:
    backend = make(server.base_url, model=server.model, api=api, timeout=60.0)
    prompts = [question.format("France"), question.format("Germany")]
    results = ask(backend, *prompts, params=GenerationParams(max_tokens=12))
    texts = [r.completion for r in results if isinstance(r, ModelOutput)]
    assert ["Paris" in texts[0], "Berlin" in texts[1]] == [True, True], results
    for result in results:
        assert isinstance(result, ModelOutput)
        assert result.finish_reason in ("stop", "length")
        assert result.usage is not None
        assert 0 < result.usage["completion_tokens"] <= 12


def stop_and_max_tokens_are_obeyed(server: RealServer) -> None:
    backend = make(server.base_url, model=server.model, timeout=60.0)
    prompt = "Count from 1 to 20, separated by commas."
    [cut] = ask(backend, prompt, params=GenerationParams(max_tokens=5))
    [stopped] = ask(backend, prompt, params=GenerationParams(max_tokens=60, stop=("4",)))
    assert isinstance(cut, ModelOutput)
    assert isinstance(stopped, ModelOutput)
    assert cut.finish_reason == "length"
    assert "5" not in stopped.completion
