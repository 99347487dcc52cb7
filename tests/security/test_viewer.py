"""What a page of somebody else, or a client that means ill, gets of `evalplug view`: nothing."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_evalplug.report.viewer.runs import Runs
from pytest_evalplug.report.viewer.server import ViewServer, _Handler
from tests.report.viewer.runs import Given, make_run

SCRIPT = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ViewServer]:
    """Serves a run whose every text is markup; beside it lies a file that is nobody's business."""
    make_run(tmp_path / "out", {("m", "main"): [Given(SCRIPT, SCRIPT, SCRIPT, SCRIPT, SCRIPT)]})
    (tmp_path / "secret.json").write_text('{"key": "secret"}')
    (tmp_path / "out" / "20200101_000000").symlink_to(tmp_path / "out" / "none")
    with ViewServer(Runs(tmp_path / "out")) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def say(server: ViewServer, request: bytes) -> bytes:
    """Send bytes as they are, and return all that comes back until the server hangs up."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(65536), b""))


def get(server: ViewServer, path: str, host: str | None = None) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.putrequest("GET", path, skip_host=True)
    connection.putheader("Host", host or f"127.0.0.1:{server.port}")
    connection.endheaders()
    reply = connection.getresponse()
    body = reply.read()
    connection.close()
    return reply.status, body


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example:{port}", "localhost.evil.example", "0.0.0.0", ""],
)
def test_a_site_whose_name_was_rebound_gets_nothing(server: ViewServer, host: str) -> None:
    status, body = get(server, "/api/runs", host=host.format(port=server.port) or "[::1]")
    assert status == 421
    assert json.loads(body) == {"error": "Unknown host"}


@pytest.mark.parametrize(
    "path",
    [
        *(
            "/../secret.json",
            "/%2e%2e/secret.json",
            "/api/runs/..%2f..%2fsecret.json",
            "//etc/passwd",
        ),
        *("/api/runs/../../secret.json", "/static/", "/out/", "/api/runs/.%00", "/api/runs/%ff"),
        *("/api/runs/20200101_000000", "/index.html", "/api", "/api/", "/api/runs/", "http://e/"),
    ],
)
def test_no_path_leads_anywhere_else(server: ViewServer, path: str) -> None:
    status, body = get(server, path)
    if path == "http://e/":  # a proxy's form: the page, which is no secret
        return
    assert status in (404, 422)
    assert b"secret" not in body
    assert b"Traceback" not in body


@pytest.mark.parametrize(
    "request_",
    [
        b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9999999999\r\n\r\n",
        b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 200 + b"\r\n",
        b"GET / HTTP/1.1\r\nHost: " + b"x" * 70_000 + b"\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01",
        b"OPTIONS / HTTP/1.1\r\nOrigin: http://evil\r\nHost: h\r\n\r\n",
        b"GET /api/runs HTTP/1.1\r\n\r\n",
        b"\r\n\r\n",
    ],
    ids=range(8),
)
def test_odd_requests_are_refused_and_others_served(server: ViewServer, request_: bytes) -> None:
    reply = say(server, request_)
    assert b" 200 " not in reply.partition(b"\r\n")[0]
    assert b"Access-Control-Allow" not in reply
    assert get(server, "/")[0] == 200


def test_silent_clients_keep_nobody_waiting(
    server: ViewServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_Handler, "timeout", 0.2)
    silent = [socket.create_connection(("127.0.0.1", server.port), timeout=10) for _ in range(20)]
    for connection in silent[::2]:
        connection.sendall(b"GET / HTTP/1.1\r\nHost:")
    assert get(server, "/")[0] == 200
    for connection in silent:  # and are sent away in the end
        while connection.recv(65536):
            pass
        connection.close()


def test_data_are_never_markup(server: ViewServer) -> None:
    """JSON with no sniffing, in an application whose policy runs its own script only."""
    [run] = [run for run in json.loads(get(server, "/api/runs")[1]) if run["state"] == "finished"]
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.request("GET", f"/api/runs/{run['name']}/t0/0")
    reply = connection.getresponse()
    assert SCRIPT.encode() in reply.read()
    assert reply.headers["Content-Type"].startswith("application/json")
    assert reply.headers["X-Content-Type-Options"] == "nosniff"
    assert reply.headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "script-src 'sha256-" in reply.headers["Content-Security-Policy"]
    assert "unsafe" not in reply.headers["Content-Security-Policy"]
    connection.close()
