"""Against a hub on loopback: what is asked, how often, and what is said when it isn't there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from pytest_evalplug.dataset.hub import load_from_hub

SCRIPT = """
import sys, time
from pytest_evalplug.dataset.hub import load_from_hub
from pytest_evalplug.errors import DataError
dataset_id, *places = sys.argv[1:]
for place in places:
    start = time.monotonic()
    try:
        table = load_from_hub(dataset_id, *place.split("/"), None)
        found = f"{table.origin.where(0)}: {table.records}"
    except (LookupError, DataError) as error:
        found = f"{type(error).__name__} {error.args[0]}"
    print(f"{time.monotonic() - start:.1f} {found}")
"""
COMMIT = "a" * 40
CARD = """---
configs:
- config_name: law
  data_files: [{split: test, path: law/test.jsonl}]
---
"""
FILES = {"README.md": CARD, "law/test.jsonl": '{"q": "x", "n": 0}\n{"q": "y", "n": null}\n'}


class Hub(BaseHTTPRequestHandler):
    """Has one data set, ``owner/set``; counts what is asked, and may be slow."""

    requests: list[str]
    delay = 0.0

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if "/datasets/" in path:  # huggingface_hub has questions of its own
            self.requests.append(path)
        time.sleep(self.delay)
        if path.startswith("/api/datasets/owner/set/tree/"):
            tree = [{"type": "file", "path": name, "size": len(FILES[name])} for name in FILES]
            self._send(json.dumps([{**entry, "oid": COMMIT} for entry in tree]))
        elif path.startswith("/api/datasets/owner/set"):
            siblings = [{"rfilename": name} for name in FILES]
            self._send(json.dumps({"id": "owner/set", "sha": COMMIT, "siblings": siblings}))
        else:
            name = path.partition("/owner/set/resolve/")[2].partition("/")[2]
            self._send(FILES.get(name), ETag=f'"{name}"')

    def do_HEAD(self) -> None:
        self.do_GET()

    def _send(self, text: str | None, **headers: str) -> None:
        self.send_response(404 if text is None else 200)
        body = (text or "").encode()
        error = "EntryNotFound" if "/resolve/" in self.path else "RepoNotFound"
        headers |= {"X-Repo-Commit": COMMIT} if text is not None else {"X-Error-Code": error}
        headers |= {"Content-Length": str(len(body)), "Content-Type": "application/json"}
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Stay quiet."""


@pytest.fixture
def hub() -> Iterator[tuple[str, type[Hub]]]:
    handler = type("CountingHub", (Hub,), {"requests": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    # a client that goes away is no news; printed, it would stand in another test's output
    server.handle_error = lambda request, address: None  # type: ignore[method-assign,assignment]
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", handler
    server.shutdown()
    thread.join()
    server.server_close()


def look(tmp_path: Path, *arguments: str, **environment: str) -> list[tuple[float, str]]:
    """Run the script in a process of its own: the hub's settings are read at import.

    Returns (seconds, what was found) of each look.
    """
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("HF_", "HUGGING"))}
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments],
        env={**inherited, "HF_HOME": str(tmp_path), "NO_PROXY": "127.0.0.1", **environment},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    lines = [line.partition(" ") for line in result.stdout.splitlines()]
    return [(float(seconds), found) for seconds, _, found in lines]


MISSING = ("owner/no-such-set", "law/test", "art/test", "law/dev")


def test_a_table_and_then_its_cache(hub: tuple[str, type[Hub]], tmp_path: Path) -> None:
    url, handler = hub
    table = "owner/set (law, test), row 0: [{'q': 'x', 'n': 0}, {'q': 'y', 'n': None}]"
    places = ("owner/set", "law/test", "law/dev", "art/test")
    here = [found for _, found in look(tmp_path, *places, HF_ENDPOINT=url)]
    assert here[0] == table
    assert here[1].startswith("DataError hub id owner/set, subset 'law', split 'dev': ValueError")
    assert "Available: ['law']" in here[2]
    asked = len(handler.requests)
    for environment in [
        {"HF_ENDPOINT": url, "HF_HUB_OFFLINE": "1"},
        {"HF_ENDPOINT": "http://127.0.0.1:9"},
    ]:
        away = [found for _, found in look(tmp_path, *places, **environment)]
        assert away[0] == table
        assert away[2].startswith("LookupError hub id owner/set: ")
    assert len(handler.requests) == asked


def test_a_hub_that_lacks_the_set_is_asked_once(hub: tuple[str, type[Hub]], tmp_path: Path) -> None:
    url, handler = hub
    found = look(tmp_path, *MISSING, HF_ENDPOINT=url)
    assert [text.startswith("LookupError hub id owner/no-such-set: ") for _, text in found] == [
        True
    ] * 3
    assert handler.requests == ["/api/datasets/owner/no-such-set"]


def test_a_silent_hub_costs_one_timeout(hub: tuple[str, type[Hub]], tmp_path: Path) -> None:
    url, handler = hub
    handler.delay = 8.0
    found = look(tmp_path, *MISSING, HF_ENDPOINT=url)
    assert len(handler.requests) == 1
    assert ["Timeout" in text for _, text in found] == [True] * 3
    assert sum(seconds for seconds, _ in found[1:]) < found[0][0]


def test_nobody_listens(tmp_path: Path) -> None:
    found = look(tmp_path, *MISSING, HF_ENDPOINT="http://127.0.0.1:9")
    assert ["ConnectError" in text for _, text in found] == [True] * 3


def test_offline_is_respected(hub: tuple[str, type[Hub]], tmp_path: Path) -> None:
    url, handler = hub
    found = look(tmp_path, *MISSING, HF_ENDPOINT=url, HF_HUB_OFFLINE="1")
    reason = "LookupError hub id owner/no-such-set: HF_HUB_OFFLINE is set"
    assert [text for _, text in found] == [reason] * 3
    assert handler.requests == []


def test_modelscope_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "modelscope", None)
    with pytest.raises(LookupError, match=r"pip install modelscope"):
        load_from_hub("ms:owner/set", "default", "test", None)
