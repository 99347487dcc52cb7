"""What goes wrong between a client and an OpenAI-compatible server: one fault, one entry.

The entries say what a client must make of a fault that does not pass; tests and the storm draw
from them.
"""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import formatdate
from typing import Any

from aiohttp import web

from tests.servers import (
    Action,
    Call,
    OpenAIServer,
    bad_gateway,
    cut_short,
    error,
    payload,
    raw,
    reset,
    stall,
    text,
)

RETRIES = 2
AGAIN = 1 + 1 + RETRIES
"""Requests where the first goes over a connection that has been used: that one may be stale."""


@dataclass(frozen=True)
class Fault:
    """A fault and what becomes of a prompt that meets it at each request."""

    act: Action
    says: str
    """A part of the error's text."""
    requests: int = 1 + RETRIES


def choice(**fields: Any) -> Action:
    """Reply with one choice of any form."""
    return payload({"choices": [fields]})


def message(**fields: Any) -> Action:
    """Reply with a message of any form."""
    return choice(message={"role": "assistant", **fields})


def reply(**fields: Any) -> Action:
    """Reply with the completion "4" and any further fields beside the message."""
    return choice(message={"role": "assistant", "content": "4"}, **fields)


def wire(*parts: bytes, then: str = "close", pause: float = 0.0) -> Action:
    """Write to the connection itself, past the HTTP server; then close, abort or hold it."""

    async def act(request: web.Request, call: Call) -> web.StreamResponse:
        transport = request.transport
        assert transport is not None
        for part in parts:
            if transport.is_closing():
                break
            transport.write(part)
            await asyncio.sleep(pause)
        if then == "hold":
            await asyncio.sleep(60)
        transport.abort() if then == "abort" else transport.close()
        return web.Response()

    return act


def flood(size: int) -> Action:
    """Reply with so many bytes; more than the client reads, and it hangs up."""

    async def act(request: web.Request, call: Call) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        block = b" " * 2**20
        for _ in range(size // len(block)):
            await response.write(block)
        return response

    return act


def packed(body: bytes, encoding: str) -> Action:
    """Reply with bytes that are said to be encoded."""

    async def act(request: web.Request, call: Call) -> web.StreamResponse:
        return web.Response(body=body, headers={"Content-Encoding": encoding})

    return act


def stale(answer: str = "4") -> Action:
    """Reply on a fresh connection; one that is used again is closed, as an idle one may be."""
    used: list[object] = []

    async def act(request: web.Request, call: Call) -> web.StreamResponse:
        if request.transport in used:
            return await reset()(request, call)
        used.append(request.transport)
        return await text(answer)(request, call)

    return act


def processing(then: str = "4") -> Action:
    """Send interim answers (1xx) before the reply."""

    async def act(request: web.Request, call: Call) -> web.StreamResponse:
        assert request.transport is not None
        for line in (b"100 Continue", b"102 Processing", b"103 Early Hints\r\nLink: </a>"):
            request.transport.write(b"HTTP/1.1 " + line + b"\r\n\r\n")
        return await text(then)(request, call)

    return act


_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
_GOOD = json.dumps({"choices": [{"message": {"content": "4"}}]}).encode()
_DEEP = b"[" * 100_000

PASSING: dict[str, Fault] = {
    "429": Fault(error(429, "slow down"), "429 slow down"),
    "429 Retry-After: 0": Fault(error(429, retry_after="0"), r"429 no (Retry-After: 0 s)"),
    "429 Retry-After: a date": Fault(
        error(429, retry_after=formatdate(0, usegmt=True)), "(Retry-After: 0 s)"
    ),
    "429 Retry-After: -5": Fault(error(429, retry_after="-5"), "(Retry-After: 0 s)"),
    "429 Retry-After: soon": Fault(error(429, retry_after="soon"), "429 no"),
    "429 Retry-After: nan": Fault(error(429, retry_after="nan"), "429 no"),
    "429 retry-after-ms: 10": Fault(error(429, retry_after_ms="10"), "(Retry-After: 0 s)"),
    "408": Fault(error(408, "too slow"), "408 too slow"),
    "504": Fault(error(504, "upstream"), "504 upstream"),
    "409": Fault(error(409, "conflict"), "409 conflict"),
    "500": Fault(error(500, "boom"), "500 boom"),
    "502, an HTML page": Fault(bad_gateway(), "502 (an HTML page)"),
    "503": Fault(error(503, "overloaded"), "503 overloaded"),
    "503 Retry-After: 0": Fault(error(503, retry_after="0"), "503 no (Retry-After: 0 s)"),
    "529": Fault(error(529, "overloaded"), "529 overloaded"),
    "reset before the head": Fault(reset(), "closed the connection without an answer", AGAIN),
    "reset amid the head": Fault(wire(b"HTTP/1.1 200", then="abort"), "without an answer", AGAIN),
    "reset amid the body": Fault(wire(_HEAD, b'{"cho', then="abort"), "the answer broke off"),
    "body cut short": Fault(cut_short(), "the answer broke off"),
    "not HTTP": Fault(wire(b"\x15\x03\x01\x00\x02\x02\x16"), "not HTTP"),
    "head without end": Fault(wire(b"HTTP/1.1 200 OK\r\nA: " + b"x" * 99_999), "not HTTP"),
    "gzip that is none": Fault(packed(b"garbage", "gzip"), "content-encoding is wrong"),
    "gzip cut short": Fault(packed(gzip.compress(_GOOD)[:20], "gzip"), "not JSON"),
    "empty body": Fault(raw(b""), "not JSON"),
    "204": Fault(raw(b"", 204), "not JSON"),
    "truncated JSON": Fault(raw(_GOOD[:-5]), "not JSON"),
    "200, an HTML page": Fault(raw(b"<html>", content_type="text/html"), "not JSON"),
    "invalid UTF-8": Fault(raw(_GOOD.replace(b"4", b"\xff\xfe")), "not JSON"),
    "nested 100,000 deep": Fault(raw(_DEEP), "not JSON"),
    "logprobs nested 100,000 deep": Fault(
        raw(_GOOD[:-2] + b', "logprobs": ' + _DEEP + b"]" * 100_000 + b"}]}"), "not JSON"
    ),
    "null": Fault(payload(None), "not JSON"),
    "a list": Fault(payload([]), "choices[0]"),
    "choices missing": Fault(payload({"object": "x"}), "choices[0]"),
    "choices null": Fault(payload({"choices": None}), "choices[0]"),
    "choices an object": Fault(payload({"choices": {"a": 1}}), "choices[0]"),
    "choices empty": Fault(payload({"choices": []}), "no choices"),
    "choice null": Fault(payload({"choices": [None]}), "choices[0]"),
    "choice a list": Fault(payload({"choices": [[]]}), "choices[0]"),
    "message missing": Fault(choice(index=0), "choices[0]"),
    "message a list": Fault(choice(message=["4"]), "choices[0]"),
    "message a text": Fault(choice(message="4"), "choices[0]"),
    "content a number": Fault(message(content=4), "choices[0]"),
    "content true": Fault(message(content=True), "choices[0]"),
    "content an object": Fault(message(content={"text": "4"}), "choices[0]"),
    "content a list of numbers": Fault(message(content=[4]), "choices[0]"),
    "error in a 200": Fault(payload({"error": {"code": 502, "message": "up"}}), "502 up"),
    "error text in a 200": Fault(payload({"error": "boom"}), "500 boom"),
    "error in a choice": Fault(choice(error={"code": "503", "message": "up"}), "503 up"),
}
"""Worth another try."""

HANGING: dict[str, Fault] = {
    "nothing comes": Fault(wire(then="hold"), "no answer within"),
    "stalled head": Fault(wire(b"HTTP/1.1 200 OK\r\nX-A: b", then="hold"), "no answer within"),
    "stalled body": Fault(stall(), "no answer within"),
    "head drips": Fault(wire(b"HTTP/1.1 200 OK\r\nA: ", *[b"x"] * 500, pause=0.02), "no answer"),
    "body drips": Fault(wire(_HEAD, *[b" "] * 500, pause=0.02), "no answer within"),
}
"""Bounded by the timeout, whatever trickles in; worth two more tries."""

LASTING: dict[str, Fault] = {
    "400": Fault(error(400, "content policy"), "400 content policy", 1),
    "403 after a reply": Fault(error(403, "flagged"), "403 flagged", 1),
    "418": Fault(error(418, "teapot"), "418 teapot", 1),
    "422": Fault(payload({"detail": [{"msg": "bad"}]}, 422), '422 [{"msg": "bad"}]', 1),
    "429 Retry-After: an hour": Fault(error(429, retry_after="3600"), "(Retry-After: 3600 s)", 1),
    "429 Retry-After: 1e999": Fault(error(429, retry_after="1e999"), "(Retry-After: inf s)", 1),
    "body of 100 MB": Fault(flood(100 * 2**20), "the reply exceeds 64 MiB", 1),
    "gzip of 100 MB": Fault(packed(gzip.compress(b" " * 100 * 2**20, 1), "gzip"), "64 MiB", 1),
}
"""The sample's own error, at once."""

TOO_LONG: dict[str, Fault] = {
    "413": Fault(error(413, "Payload Too Large"), "413 Payload", 1),
    "OpenAI": Fault(error(400, "too long", "context_length_exceeded"), "400 too long", 1),
    "vLLM": Fault(error(400, "This model's maximum context length is 9 tokens"), "maximum", 1),
    "llama.cpp": Fault(error(400, "the request exceeds the available context size"), "size", 1),
    "FastAPI": Fault(payload({"detail": "prompt is too long"}, 422), "422 prompt is", 1),
}
"""The sample's own error, unless fewer shots make it fit."""

FATAL: dict[str, Fault] = {
    "401": Fault(error(401, "Incorrect API key"), "wants a key: 401 Incorrect API key", 1),
    "401 in a 200": Fault(payload({"error": {"code": 401, "message": "no"}}), "401 no", 1),
    "402": Fault(error(402, "pay"), "no credit left: 402 pay", 1),
    "403 before any reply": Fault(error(403, "no"), "wants a key: 403 no", 1),
    "429, no quota": Fault(error(429, "quota", "insufficient_quota"), "no credit left: 429", 1),
    "404": Fault(error(404, "what?"), "no such model or path: 404 what?", 1),
    "405": Fault(error(405, "what?"), "no such model or path: 405 what?", 1),
    **{
        str(status): Fault(
            payload({}, status, location="https://u:pw@elsewhere/v1?key=pw"),
            f"the server redirects: {status} to https://elsewhere/v1",
            1,
        )
        for status in (301, 302, 303, 307, 308)
    },
}
"""No request can succeed: the run stops."""

HARMLESS: dict[str, Action] = {
    "1xx before the reply": processing(),
    "usage a list": payload({**json.loads(_GOOD), "usage": [1]}),
    "usage nonsense": payload(
        {**json.loads(_GOOD), "usage": {"a": -1, "b": "2", "c": True, "d": {"e": {}}, "f": 10**30}}
    ),
    "logprobs a text": reply(logprobs="none"),
    "logprobs NaN": raw(_GOOD[:-3] + b', "logprobs": {"a": NaN}}]}'),
    "finish_reason a number": reply(finish_reason=7),
    "role and reasoning numbers": message(content="4", role=1, reasoning=2),
    "content in parts": message(content=[{"type": "thinking"}, {"type": "text", "text": "4"}]),
    "gzip": packed(gzip.compress(_GOOD), "gzip"),
    "no content type": raw(_GOOD, content_type="text/plain"),
    "201": raw(_GOOD, 201),
    "UTF-16": raw(_GOOD.decode().encode("utf-16")),
}
"""A reply of "4" all the same."""


def faulty(act: Action, *, on: str = "bad", times: int = 10**9) -> Callable[[Call], Action | str]:
    """Return a script: the prompt ``on`` meets a fault so many times, all others are answered."""
    return lambda call: act if call.prompt == on and call.attempt < times else "4"


def outage(server: OpenAIServer, seconds: float) -> Action:
    """Take the server down, and all its connections with it, for so long."""

    async def act(request: web.Request, call: Call) -> web.StreamResponse:
        server.go_down(seconds)
        return await reset()(request, call)

    return act
