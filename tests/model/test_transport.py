from __future__ import annotations

import asyncio

import pytest

from pytest_evalplug.model.transport import (
    AiohttpTransport,
    Reply,
    TransportError,
    is_loopback,
    shown_url,
)
from tests.servers import (
    OpenAIServer,
    api_server,
    cut_short,
    delay,
    free_port,
    payload,
    reset,
    stall,
    text,
)

__all__ = ["api_server"]


def send(url: str, path: str, *, timeout: float = 5.0, method: str = "POST") -> Reply:
    async def main() -> Reply:
        transport = AiohttpTransport(url, headers={"X-A": "b"}, timeout=timeout, limit=2)
        try:
            return await transport.send(method, path, {"prompt": "é"} if method == "POST" else None)
        finally:
            await transport.aclose()

    return asyncio.run(main())


@pytest.mark.parametrize("slash", ["", "/"])
def test_a_reply_of_any_status_is_returned(api_server: OpenAIServer, slash: str) -> None:
    api_server.script = lambda call: payload({"a": 1}, 418, retry_after="9")
    reply = send(api_server.url + slash, "completions")
    assert (reply.status, reply.body) == (418, b'{"a": 1}')
    assert reply.headers["retry-after"] == "9"
    [call] = api_server.calls
    assert call.body == {"prompt": "é"}
    assert (call.headers["x-a"], call.headers["content-type"]) == ("b", "application/json")


def test_get(api_server: OpenAIServer) -> None:
    reply = send(api_server.url, "models", method="GET")
    assert (reply.status, api_server.model_lists) == (200, 1)


def test_query_stays_at_the_end(api_server: OpenAIServer) -> None:
    send(f"{api_server.url}?api-version=1", "completions")
    assert api_server.calls[0].query == "api-version=1"


def test_redirects_are_not_followed(api_server: OpenAIServer) -> None:
    api_server.script = lambda call: payload({}, 302, location="/v1/models")
    assert send(api_server.url, "completions").status == 302
    assert api_server.model_lists == 0


def kind_of(url: str) -> str:
    with pytest.raises(TransportError) as caught:
        send(url, "completions", timeout=0.3)
    return caught.value.kind


def test_kinds_of_failure(api_server: OpenAIServer) -> None:
    kinds = []
    for action in (reset(), cut_short(), stall()):
        api_server.script = lambda call, action=action: action  # type: ignore[misc]
        kinds.append(kind_of(api_server.url))
    kinds.append(kind_of(f"http://127.0.0.1:{free_port()}/v1"))
    kinds.append(kind_of(api_server.url.replace("http:", "https:")))
    assert kinds == ["broken", "broken", "timeout", "refused", "refused"]


@pytest.mark.parametrize(("stale_after", "requests"), [(0.05, 2), (600.0, 3)])
def test_a_request_is_sent_again_only_where_the_connection_was_stale(
    api_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch, stale_after: float, requests: int
) -> None:
    """A server that breaks off after some time has worked on it, and is not asked unseen."""
    monkeypatch.setattr("pytest_evalplug.model.transport._STALE_SECONDS", stale_after)
    actions = [text("first"), delay(0.1, reset()), text("again")]
    api_server.script = lambda call: actions[len(api_server.calls) - 1]

    async def main() -> str:
        transport = AiohttpTransport(api_server.url, headers={}, timeout=60, limit=1)
        try:
            await transport.send("POST", "completions", {"prompt": "a"})
            await transport.send("POST", "completions", {"prompt": "b"})
        except TransportError as error:
            return error.kind
        finally:
            await transport.aclose()
        return "sent again"

    assert asyncio.run(main()) == ("broken" if requests == 2 else "sent again")
    assert len(api_server.calls) == requests


def test_what_may_be_secret_is_not_shown() -> None:
    assert shown_url("https://me:pw@h:1/v1/?key=x#y") == "https://h:1/v1"


@pytest.mark.parametrize(
    ("url", "here"),
    [
        ("http://localhost:8000/v1", True),
        ("http://127.0.0.1:8000/v1", True),
        ("http://[::1]:8000/v1", True),
        ("http://127.0.0.1.example.org/v1", False),
        ("https://api.openai.com/v1", False),
        ("http://10.0.0.1/v1", False),
    ],
)
def test_loopback(url: str, here: bool) -> None:
    assert is_loopback(url) is here
