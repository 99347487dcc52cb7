from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_evalplug.model.api_schema import failure_of, model_ids, parse_output, request_body
from pytest_evalplug.model.base import GenerationParams
from pytest_evalplug.model.retry import Failure, FailureKind
from pytest_evalplug.model.transport import Reply
from pytest_evalplug.types import ModelOutput


def reply(data: Any, status: int = 200) -> Reply:
    return Reply(status, json.dumps(data).encode())


def parsed(**message: Any) -> ModelOutput:
    output = parse_output(reply({"choices": [{"message": message}]}), "chat")
    assert isinstance(output, ModelOutput), output
    return output


def fault(data: Any, status: int) -> Failure:
    return failure_of(reply(data, status))


def test_only_what_is_set_is_sent() -> None:
    body = request_body("m", "completions", "p", GenerationParams(max_tokens=1), {"n": 2})
    assert body == {"model": "m", "prompt": "p", "max_tokens": 1, "temperature": 0.0, "n": 2}


def test_content_in_parts() -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "4"},
        {"type": "text", "text": "2"},
    ]
    assert parsed(content=parts).completion == "42"


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_reasoning(name: str) -> None:
    output = parsed(content="4", **{name: "2 and 2"})
    assert (output.completion, output.reasoning) == ("4", "2 and 2")


def test_tool_calls_are_kept() -> None:
    calls = [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    message = parsed(content=None, tool_calls=calls).message
    assert message == {"role": "assistant", "content": None, "tool_calls": calls}


def test_usage_has_the_details_beside_the_totals() -> None:
    usage = {
        "prompt_tokens": 7,
        "total_tokens": 9,
        "completion_tokens_details": {"reasoning_tokens": 5, "total_tokens": 1},
        "prompt_tokens_details": None,
        "cost": 0.1,
    }
    choice = {"text": "a", "finish_reason": None, "logprobs": {"tokens": ["a"]}}
    output = parse_output(reply({"choices": [choice], "usage": usage}), "completions")
    assert isinstance(output, ModelOutput)
    assert output.usage == {"prompt_tokens": 7, "total_tokens": 9, "reasoning_tokens": 5}
    assert output.logprobs == {"tokens": ["a"]}


@pytest.mark.parametrize("usage", [None, [], "many", {}])
def test_odd_usage(usage: Any) -> None:
    data = {"choices": [{"text": "a"}], "usage": usage}
    output = parse_output(reply(data), "completions")
    assert isinstance(output, ModelOutput)
    assert not output.usage


@pytest.mark.parametrize(
    "data",
    [
        None,
        7,
        "text",
        [],
        {},
        {"choices": None},
        {"choices": {}},
        {"choices": [None]},
        {"choices": [{"message": None}]},
        {"choices": [{"message": {"content": 7}}]},
        {"choices": [{"text": "of the other API"}]},
    ],
)
def test_another_schema_is_a_passing_fault(data: Any) -> None:
    result = parse_output(reply(data), "chat")
    assert isinstance(result, Failure)
    assert result.kind == "server"


def test_an_error_in_a_200_keeps_its_status() -> None:
    data = {"error": {"code": 429, "message": "slow down"}}
    result = parse_output(Reply(200, json.dumps(data).encode(), {"retry-after": "2"}), "chat")
    assert result == Failure("busy", "429 slow down (Retry-After: 2 s)", 2.0)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (301, "fatal"),
        (400, "rejected"),
        (401, "fatal"),
        (402, "fatal"),
        (403, "forbidden"),
        (404, "no_model"),
        (405, "no_model"),
        (408, "timeout"),
        (409, "server"),
        (413, "too_long"),
        (418, "rejected"),
        (422, "rejected"),
        (429, "busy"),
        (500, "server"),
        (502, "server"),
        (504, "timeout"),
        (529, "busy"),
    ],
)
def test_status(status: int, kind: FailureKind) -> None:
    assert fault({"error": {"message": "m"}}, status) == Failure(kind, f"{status} m")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ({"error": {"message": "a\n  b"}}, "400 a b"),
        ({"error": "plain"}, "400 plain"),
        ({"detail": "fastapi"}, "400 fastapi"),
        ({"detail": [{"loc": ["body"]}]}, '400 [{"loc": ["body"]}]'),
        ({"message": "older vllm"}, "400 older vllm"),
    ],
)
def test_forms_of_an_error(data: Any, text: str) -> None:
    assert fault(data, 400).text == text


def test_a_text_cannot_steer_a_terminal() -> None:
    assert fault({"error": "\x1b[31mred\x07\u202e"}, 400).text == "400 \ufffd[31mred\ufffd\ufffd"
    assert model_ids(reply({"data": [{"id": "a\x1bb"}]})) == ["a\ufffdb"]


def test_a_long_text_is_cut() -> None:
    assert len(fault({"error": "x" * 9999}, 400).text) <= 310


def test_bodies_that_are_not_json() -> None:
    assert failure_of(Reply(502, b" <html>no</html>")).text == "502 (an HTML page)"
    assert failure_of(Reply(503, b"try\nlater \xff")).text == "503 try later \ufffd"
    assert failure_of(Reply(500, b"")).text == "500"


@pytest.mark.parametrize(
    "message",
    [
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens",
        "'max_tokens' is too large: 5000. This model's maximum context length is 2048 tokens",
        "the request exceeds the available context size (2048 tokens), try increasing it",
        "Input is too long for requested model.",
        "prompt is too long: 210000 tokens > 200000 maximum",
        "Requested token count exceeds the model's maximum context length of 131072 tokens",
    ],
)
def test_wordings_of_too_long(message: str) -> None:
    assert fault({"error": {"message": message}}, 400).kind == "too_long"


@pytest.mark.parametrize(
    ("data", "names"),
    [
        ({"data": [{"id": "a"}, {"id": "b"}]}, ["a", "b"]),
        ({"data": []}, []),
        ({"data": [{"name": "a"}]}, []),
        ({"detail": "Not Found"}, []),
        ([], []),
    ],
)
def test_model_ids(data: Any, names: list[str]) -> None:
    assert model_ids(reply(data)) == names
