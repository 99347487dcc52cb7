from __future__ import annotations

from tests.model.asking import make, output
from tests.servers import (
    OpenAIServer,
    api_server,
    text,
)

__all__ = ["api_server"]


def test_usage_and_finish_reason_are_kept(api_server: OpenAIServer) -> None:
    api_server.script = lambda call: text("cut", finish_reason="length")
    result = output(make(api_server))
    assert result.finish_reason == "length"
    assert result.usage == {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}
    assert result.message == {"role": "assistant", "content": "cut"}


def test_null_content(api_server: OpenAIServer) -> None:
    api_server.script = lambda call: text(None, reasoning_content="hm", finish_reason="length")
    result = output(make(api_server))
    assert (result.completion, result.reasoning) == ("", "hm")
    assert result.message == {"role": "assistant", "content": None}


def test_a_refusal_is_kept_beside_an_empty_completion(api_server: OpenAIServer) -> None:
    api_server.script = lambda call: text(None, refusal="I can't")
    result = output(make(api_server))
    assert (result.completion, result.extra) == ("", {"refusal": "I can't"})


def test_null_text(api_server: OpenAIServer) -> None:
    api_server.script = lambda call: text(None)
    assert output(make(api_server, api="completions")).completion == ""
