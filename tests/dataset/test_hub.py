"""Against a hub on loopback: what is asked, how often, and what is said when it isn't there."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from pytest_evalplug.dataset.hub import load_from_hub

SCRIPT = """
import sys, time
from pytest_evalplug.dataset.hub import load_from_hub
for subset in ("law", "art", "law"):
    start = time.monotonic()
    try:
        load_from_hub("owner/no-such-set", subset, "test", None)
    except LookupError as error:
        print(f"{time.monotonic() - start:.1f} {error}")
"""


class Hub(BaseHTTPRequestHandler):
    """Answers 404, or nothing for a while, and counts."""

    requests: list[str]
    delay = 0.0

    def do_GET(self) -> None:
        if "/datasets/" in self.path:  # huggingface_hub has questions of its own
            self.requests.append(self.path)
        time.sleep(self.delay)
        self.send_response(404)
        self.send_header("X-Error-Code", "RepoNotFound")
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_HEAD = do_GET  # noqa: N815

    def log_message(self, format: str, *args: Any) -> None:
        """Stay quiet."""


@pytest.fixture
def hub() -> Iterator[tuple[str, type[Hub]]]:
    handler = type("CountingHub", (Hub,), {"requests": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", handler
    server.shutdown()
    thread.join()
    server.server_close()


def look(tmp_path: Any, **environment: str) -> list[str]:
    """Run the script in a process of its own (the hub's settings are read at import)."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("HF_", "HUGGING"))}
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**inherited, "HF_HOME": str(tmp_path), "NO_PROXY": "127.0.0.1", **environment},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return result.stdout.splitlines()


def test_a_hub_that_lacks_the_set_is_asked_once(hub: tuple[str, type[Hub]], tmp_path: Any) -> None:
    url, handler = hub
    lines = look(tmp_path, HF_ENDPOINT=url)
    assert len(lines) == 3
    assert all("hub id owner/no-such-set: " in line and "404" in line for line in lines)
    assert handler.requests == ["/api/datasets/owner/no-such-set"]


def test_a_silent_hub_costs_one_timeout(hub: tuple[str, type[Hub]], tmp_path: Any) -> None:
    url, handler = hub
    handler.delay = 8.0
    lines = look(tmp_path, HF_ENDPOINT=url)
    assert len(handler.requests) == 1
    assert ["Timeout" in line for line in lines] == [True] * 3
    assert [float(line.split()[0]) < 1 for line in lines[1:]] == [True, True]


def test_nobody_listens(tmp_path: Any) -> None:
    lines = look(tmp_path, HF_ENDPOINT="http://127.0.0.1:9")
    assert ["ConnectError" in line for line in lines] == [True] * 3


def test_offline_is_respected(hub: tuple[str, type[Hub]], tmp_path: Any) -> None:
    url, handler = hub
    lines = look(tmp_path, HF_ENDPOINT=url, HF_HUB_OFFLINE="1")
    assert [line.split(" ", 1)[1] for line in lines] == [
        "hub id owner/no-such-set: HF_HUB_OFFLINE is set"
    ] * 3
    assert handler.requests == []


def test_modelscope_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "modelscope", None)
    with pytest.raises(LookupError, match=r"pip install modelscope"):
        load_from_hub("ms:owner/set", "default", "test", None)
