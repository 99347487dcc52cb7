from __future__ import annotations

import pytest

from pytest_evalplug.errors import ConfigError, FatalModelError
from pytest_evalplug.model.openai_api import OpenAIBackend
from pytest_evalplug.model.spec import OpenAIOptions
from tests.model.asking import KEY, ask, failure, make, output
from tests.servers import (
    OpenAIServer,
    api_server,
    error,
    free_port,
)

__all__ = ["api_server"]


def test_environment_is_the_default(
    api_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", api_server.url + "/")
    monkeypatch.setenv("OPENAI_API_KEY", f"{KEY}\n")
    options = OpenAIOptions(model="fake")
    output(OpenAIBackend("fake", options, fingerprint="f"))
    assert api_server.calls[0].headers["authorization"] == f"Bearer {KEY}"


def test_the_table_goes_before_the_environment(
    api_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{free_port()}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "other")
    monkeypatch.setenv("MY_KEY", KEY)
    output(make(api_server, api_key_env="MY_KEY", headers={"X-Team": "eval"}))
    headers = api_server.calls[0].headers
    assert headers["authorization"] == f"Bearer {KEY}"
    assert headers["x-team"] == "eval"


def test_a_server_may_do_without_a_key(api_server: OpenAIServer) -> None:
    output(make(api_server))
    assert "authorization" not in api_server.calls[0].headers


def test_headers_may_authenticate_in_their_own_way(
    api_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    output(make(api_server, headers={"api-key": "azure"}))
    assert "authorization" not in api_server.calls[0].headers
    assert api_server.calls[0].headers["api-key"] == "azure"


def test_user_and_query_of_the_url_are_used_but_not_shown(api_server: OpenAIServer) -> None:
    api_server.script = lambda call: error(418, "teapot")
    url = api_server.url.replace("//", "//me:geheim@") + "?api-version=7&sig=geheim"
    backend = make(url)
    shown = f"{failure(backend)} {backend!r}"
    assert api_server.calls[0].headers["authorization"].startswith("Basic ")
    assert api_server.calls[0].query == "api-version=7&sig=geheim"
    assert "geheim" not in shown
    assert api_server.url in shown


def test_openai_itself_needs_a_key() -> None:
    with pytest.raises(ConfigError) as caught:
        OpenAIBackend("gpt", OpenAIOptions(model="gpt"), fingerprint="f")
    assert str(caught.value) == (
        "model gpt (https://api.openai.com/v1): no API key: OPENAI_API_KEY is not set. "
        "Set OPENAI_API_KEY, or base_url for a server of your own"
    )


@pytest.mark.parametrize(
    ("key", "headers", "name"),
    [(f"{KEY}\nX: y", {}, "Authorization"), (KEY, {"X-A": "b\r\nX: y"}, "X-A")],
)
def test_a_header_of_several_lines(
    monkeypatch: pytest.MonkeyPatch, key: str, headers: dict[str, str], name: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(
        ConfigError, match=rf"the header '{name}' .* Check OPENAI_API_KEY"
    ) as caught:
        make("http://127.0.0.1/v1", headers=headers)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "headers"),
    [
        ("http://a..b/v1", {}),
        (f"http://{'a' * 70}.com/v1", {}),
        ("http://me:pw@127.0.0.1/v1", {"authorization": "Bearer x"}),
    ],
)
def test_a_url_that_no_request_can_be_made_with(url: str, headers: dict[str, str]) -> None:
    with pytest.raises(FatalModelError, match=r"cannot connect: (Unicode|Value)Error: .*base_url"):
        ask(make(url, headers=headers), "a")


@pytest.mark.parametrize("url", ["localhost:8000/v1", "ftp://x/v1", "http://", "http://x:y"])
def test_a_url_that_is_none(url: str) -> None:
    with pytest.raises(ConfigError, match=r"is not a base URL.*http://host:port/v1"):
        make(url)


def test_a_server_here_is_reached_without_the_proxy(
    api_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{free_port()}")
    assert output(make(api_server)).completion == "echo: 2+2="
