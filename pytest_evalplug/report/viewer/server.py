"""Serves the page and the runs to browsers on this machine."""

from __future__ import annotations

__all__ = ["ViewServer"]

import gzip
import json
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

from pytest_evalplug.errors import EvalplugError
from pytest_evalplug.report.strict import strict_json
from pytest_evalplug.report.viewer.bundle import content_security_policy, page
from pytest_evalplug.report.viewer.runs import NotFound, Runs

_HTML = "text/html; charset=utf-8"
_JSON = "application/json; charset=utf-8"


class ViewServer(ThreadingHTTPServer):
    """Listens on the loopback address only; ``port`` 0 takes a free one.

    It answers GET and HEAD for these paths and nothing else: ``/``, ``/api/runs``,
    ``/api/runs/<run>`` and ``/api/runs/<run>/<table>/<block>``.
    """

    daemon_threads = True

    def __init__(self, runs: Runs, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.runs = runs
        self.port: int = self.server_address[1]
        # A page of another site whose name was made to resolve to this machine sends its own
        self.hosts = {f"127.0.0.1:{self.port}", f"localhost:{self.port}"}

    @property
    def url(self) -> str:
        """The page's address."""
        return f"http://127.0.0.1:{self.port}/"


class _Handler(BaseHTTPRequestHandler):
    server: ViewServer
    protocol_version = "HTTP/1.1"
    timeout = 60.0
    """Seconds that a client may stay silent: each has a thread."""
    server_version = "evalplug"
    sys_version = ""

    def do_GET(self) -> None:
        """Answer with the page or with JSON."""
        if self.headers.get("Host", "").lower() not in self.server.hosts:
            self._refuse(HTTPStatus.MISDIRECTED_REQUEST, "Unknown host")
            return
        path = urlsplit(self.path).path
        try:
            if path == "/":
                self._send("".join(page(connect="'self'")).encode(), _HTML)
            else:
                self._send_json(path)
        except NotFound:
            self._refuse(HTTPStatus.NOT_FOUND, "There is no such thing")
        except EvalplugError as error:
            self._refuse(HTTPStatus.UNPROCESSABLE_ENTITY, str(error))
        except OSError:  # files that are being replaced, or a browser that has left
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, "The run is being written just now")

    def do_HEAD(self) -> None:
        """Answer as to GET, without a body."""
        self.do_GET()

    def _send_json(self, path: str) -> None:
        parts = [unquote(part) for part in path.split("/")[1:]]
        match parts:
            case ["api", "runs"]:
                self._send(strict_json(self.server.runs.listed()).encode(), _JSON)
            case ["api", "runs", name]:
                self._send(strict_json(self.server.runs.run(name)).encode(), _JSON)
            case ["api", "runs", name, table, block]:
                body = self.server.runs.block(name, table, block)
                if "gzip" in self.headers.get("Accept-Encoding", ""):
                    self._send(body, _JSON, {"Content-Encoding": "gzip"})
                else:
                    self._send(gzip.decompress(body), _JSON)
            case _:
                raise NotFound(path)

    def _refuse(self, status: HTTPStatus, why: str) -> None:
        self.close_connection = True
        self._send(json.dumps({"error": why}).encode(), _JSON, status=status)

    def _send(
        self,
        body: bytes,
        kind: str,
        headers: dict[str, str] | None = None,
        *,
        status: HTTPStatus = HTTPStatus.OK,
    ) -> None:
        self.send_response(status)
        for name, value in {
            "Content-Type": kind,
            "Content-Length": str(len(body)),
            "Content-Security-Policy": content_security_policy("'self'")
            + "; frame-ancestors 'none'",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "no-store",
            **(headers or {}),
        }.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Stay silent: the terminal is the user's."""
