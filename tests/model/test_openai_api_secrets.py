from __future__ import annotations

import logging

import pytest

from pytest_evalplug.errors import FatalModelError
from tests.model.asking import KEY, ask, make
from tests.servers import (
    OpenAIServer,
    api_server,
    error,
    raw,
)

__all__ = ["api_server"]


def test_keys_are_never_shown(
    api_server: OpenAIServer,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    header = "geheim-0123456789"
    faults = [
        error(401, f"Bearer {KEY}"),
        error(500, f"header {header} and {KEY}"),
        error(400, "your key sk-proj-abcdef*****wxyz"),
        raw(f"<pre>{KEY}</pre>".encode(), 500, "text/html"),
    ]
    with caplog.at_level(logging.DEBUG):
        for fault in faults:
            api_server.script = lambda call, fault=fault: fault  # type: ignore[misc]
            backend = make(api_server, headers={"X-Secret": header})
            try:
                shown = repr(ask(backend, "a"))
            except FatalModelError as caught:
                shown = f"{caught} {caught!r}"
            for text_ in (shown, repr(backend), repr(backend._options), caplog.text):
                assert KEY not in text_
                assert header not in text_
                assert "wxyz" not in text_
