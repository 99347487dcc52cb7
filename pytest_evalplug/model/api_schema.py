"""The OpenAI wire format: request bodies, replies and errors, as pure functions."""

from __future__ import annotations

__all__ = ["failure_of", "model_ids", "parse_output", "plain_text", "request_body"]

import json
import re
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from pytest_evalplug.errors import one_line
from pytest_evalplug.model.base import GenerationParams
from pytest_evalplug.model.retry import Failure, FailureKind, retry_after_seconds
from pytest_evalplug.model.transport import Reply
from pytest_evalplug.types import ChatMessage, ModelOutput, Prompt

Api: TypeAlias = Literal["chat", "completions"]

# How OpenAI, vLLM, SGLang, llama.cpp, Ollama, Anthropic and others word the same thing.
_TOO_LONG = re.compile(
    r"context[ _](length|window|size)|maximum (model )?length|max_model_len|too many tokens"
    r"|(prompt|input|request) (is )?too (long|large)|reduce the length",
    re.IGNORECASE,
)
_LONGEST_TEXT = 300


def request_body(
    model: str, api: Api, prompt: Prompt, params: GenerationParams, extra: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the JSON body of one request; ``extra`` has the last word."""
    body: dict[str, Any] = {"model": model}
    if api == "chat":
        body["messages"] = (
            [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
        )
    else:
        body["prompt"] = plain_text(prompt)
    body["max_tokens"] = params.max_tokens
    body["temperature"] = params.temperature
    if params.top_p is not None:
        body["top_p"] = params.top_p
    if params.stop:
        body["stop"] = list(params.stop)
    if params.seed is not None:
        body["seed"] = params.seed
    return {**body, **extra}


def plain_text(prompt: Prompt) -> str:
    """Return a prompt as one text; messages are joined by blank lines, no template applies."""
    if isinstance(prompt, str):
        return prompt
    return "\n\n".join(_text(message["content"]) or "" for message in prompt)


def parse_output(reply: Reply, api: Api) -> ModelOutput | Failure:
    """Read a reply of status 200; one that does not follow the schema is a ``server`` failure."""
    data = _json(reply)
    if data is None:
        return Failure("server", "the reply is not JSON")
    try:
        if data.get("error"):  # some gateways answer 200 with an error, in place of a choice even
            return _failure(_embedded_status(data["error"]), data, reply)
        choice = data["choices"][0]
        if choice.get("error"):
            return _failure(_embedded_status(choice["error"]), choice, reply)
        output = _chat_output(choice) if api == "chat" else _text_output(choice)
    except IndexError:
        return Failure("server", "the reply has no choices")
    except (KeyError, TypeError, AttributeError):
        return Failure("server", "the reply lacks choices[0] as the API defines it")
    output.finish_reason = _string(choice.get("finish_reason"))
    output.logprobs = _logprobs(choice.get("logprobs"))
    output.usage = _usage(data.get("usage"))
    return output


def _chat_output(choice: Mapping[str, Any]) -> ModelOutput:
    message = choice["message"]
    text = _text(message.get("content"))
    kept: ChatMessage = {"role": _string(message.get("role")) or "assistant", "content": text}
    if message.get("tool_calls"):
        kept["tool_calls"] = message["tool_calls"]
    # A refusal is not an answer: a postprocessor must not find an option letter in it.
    extra = {"refusal": message["refusal"]} if message.get("refusal") else {}
    reasoning = message.get("reasoning_content") or message.get("reasoning")
    return ModelOutput(text or "", kept, reasoning=_string(reasoning), extra=extra)


def _text_output(choice: Mapping[str, Any]) -> ModelOutput:
    return ModelOutput(_text(choice["text"]) or "")


def _text(content: Any) -> str | None:
    """Return a content's text: content may be null, or a list of typed parts.

    Raises TypeError for anything else: what is not understood must not pass for an empty reply.
    """
    if content is None or isinstance(content, str):
        return content
    if not isinstance(content, list) or not all(isinstance(part, Mapping) for part in content):
        raise TypeError(content)
    parts = [part.get("text") for part in content]
    return "".join(part for part in parts if isinstance(part, str))


def _string(value: Any) -> str | None:
    """Return what only accompanies a reply, if it is a text; no reply is lost over it."""
    return value if isinstance(value, str) else None


def _logprobs(value: Any) -> dict[str, Any] | None:
    return value if isinstance(value, dict) else None


def _usage(usage: Any) -> dict[str, int] | None:
    """Return the token counts, those of ``*_details`` (``reasoning_tokens``, ...) beside them."""
    if not isinstance(usage, dict):
        return None
    details = [value for value in usage.values() if isinstance(value, dict)]
    counts = [*(item for detail in details for item in detail.items()), *usage.items()]
    return {name: count for name, count in counts if type(count) is int and 0 <= count < 2**53}


def _json(reply: Reply) -> Any:
    """Return what the body holds; None if that is no JSON, or nested beyond all reason."""
    try:
        return json.loads(reply.body)
    except (ValueError, RecursionError):
        return None


def failure_of(reply: Reply) -> Failure:
    """Say what a reply of another status than 200 means."""
    return _failure(reply.status, _json(reply), reply)


def model_ids(reply: Reply) -> list[str]:
    """Return the names in a reply to ``GET /models``; none if it is something else."""
    try:
        return [_shown(str(model["id"])) for model in _json(reply)["data"]]
    except (KeyError, TypeError):
        return []


def _failure(status: int, data: Any, reply: Reply) -> Failure:
    code, message = _error_fields(data)
    redirected = _target(reply) if 300 <= status < 400 else ""
    text = redirected or message or _plain_text(reply)
    kind = _kind(status, code, text)
    wait = retry_after_seconds(reply.headers)
    asked = "" if wait is None else f" (Retry-After: {wait:.0f} s)"
    return Failure(kind, f"{status} {text}".rstrip() + asked, wait)


def _kind(status: int, code: str, text: str) -> FailureKind:
    if status in (401, 402) or code == "insufficient_quota" or 300 <= status < 400:
        return "fatal"
    if status == 403:
        return "forbidden"
    if status in (404, 405) or code == "model_not_found":
        return "no_model"
    if status == 413 or code == "context_length_exceeded":
        return "too_long"
    if status in (400, 422) and _TOO_LONG.search(text):
        return "too_long"
    if status in (429, 529):
        return "busy"
    if status in (408, 504):
        return "timeout"
    return "server" if status >= 500 or status in (409, 425) else "rejected"


def _error_fields(data: Any) -> tuple[str, str]:
    """Return (code, message) of OpenAI's error object or of the forms that others use."""
    error = data.get("error", data) if isinstance(data, dict) else data
    if isinstance(error, str):
        return "", _shown(error)
    if not isinstance(error, dict):
        return "", ""
    message = error.get("message") or error.get("detail") or ""
    text = message if isinstance(message, str) else json.dumps(message)
    return str(error.get("code") or error.get("type") or ""), _shown(text)


def _shown(text: str) -> str:
    """Return a server's text as an error may hold it: one line, cut, no control characters."""
    line = one_line(text, _LONGEST_TEXT)
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line)


def _embedded_status(error: Any) -> int:
    code = error.get("code") if isinstance(error, dict) else None
    if isinstance(code, str) and code.isdecimal():
        code = int(code[:9])
    return code if isinstance(code, int) and 400 <= code < 600 else 500


def _target(reply: Reply) -> str:
    """Return where a redirect leads, without what may be secret in it."""
    location, _, _ = reply.headers.get("location", "").partition("?")
    scheme, separator, rest = location.partition("://")
    host, slash, path = rest.partition("/")
    shown = f"{scheme}://{host.rpartition('@')[2]}{slash}{path}" if separator else location
    return f"to {_shown(shown)}" if shown else ""


def _plain_text(reply: Reply) -> str:
    if "html" in reply.headers.get("content-type", "") or reply.body.lstrip()[:1] == b"<":
        return "(an HTML page)"
    return _shown(reply.body[: 4 * _LONGEST_TEXT].decode("utf-8", "replace"))
