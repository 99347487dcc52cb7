"""How a request reaches a server: a seam of one method, and its aiohttp implementation."""

from __future__ import annotations

__all__ = ["AiohttpTransport", "Reply", "Transport", "TransportError", "shown_url"]

import asyncio
import contextlib
import ipaddress
import json
import os
import socket
import ssl
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol
from urllib.parse import urlsplit

if TYPE_CHECKING:
    import aiohttp

_CLOSE_SECONDS = 5.0
_CONNECT_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole HTTP answer; ``headers`` are looked up by lower-case names."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


class TransportError(Exception):
    """No whole answer came.

    ``kind`` is ``refused`` (nobody there: connection refused, name unknown, TLS), ``timeout``,
    or ``broken`` (the connection ended too early).
    """

    def __init__(self, kind: Literal["refused", "timeout", "broken"], text: str) -> None:
        super().__init__(text)
        self.kind = kind


class Transport(Protocol):
    """Sends one request and returns the whole answer."""

    async def send(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Reply:
        """Send ``body`` as JSON to ``path`` below the base URL. Raises TransportError."""
        ...


def shown_url(url: str) -> str:
    """Return ``url`` without what may be secret in it: user, password, query."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}".rstrip("/")


def is_loopback(url: str) -> bool:
    """Is the server on this machine?"""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class AiohttpTransport:
    """One aiohttp session per event loop, with at most ``limit`` connections each.

    ``timeout`` (seconds) bounds a whole request. Proxies of the environment are used, except for
    a server on this machine.
    """

    def __init__(
        self, base_url: str, *, headers: Mapping[str, str], timeout: float, limit: int
    ) -> None:
        parts = urlsplit(base_url)
        self._stem = parts._replace(path=parts.path.rstrip("/"), query="", fragment="").geturl()
        self._query = f"?{parts.query}" if parts.query else ""
        self._headers = dict(headers)
        self._timeout = timeout
        self._limit = limit
        self._sessions: dict[asyncio.AbstractEventLoop, aiohttp.ClientSession] = {}
        self._lock = threading.Lock()

    async def send(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Reply:
        """Send ``body`` as JSON to ``path`` below the base URL. Raises TransportError."""
        import aiohttp

        # Redirects are not followed: most turn the POST into a GET, and the key would travel along.
        try:
            async with self._session().request(
                method,
                f"{self._stem}/{path}{self._query}",
                data=None if body is None else json.dumps(body).encode(),
                allow_redirects=False,
            ) as response:
                return Reply(response.status, await response.read(), response.headers)
        except aiohttp.ClientConnectorError as error:
            raise TransportError("refused", _reason(error)) from error
        except aiohttp.ConnectionTimeoutError as error:
            raise TransportError("refused", "the host does not respond") from error
        except asyncio.TimeoutError as error:
            raise TransportError("timeout", f"no answer within {self._timeout:g} s") from error
        except (aiohttp.ClientError, OSError) as error:
            raise TransportError("broken", _reason(error)) from error

    def _session(self) -> aiohttp.ClientSession:
        loop = asyncio.get_running_loop()
        with self._lock:
            for old in [known for known in self._sessions if known.is_closed()]:
                _close(old, self._sessions.pop(old))
            session = self._sessions.get(loop)
            if session is None:
                session = self._sessions[loop] = self._open()
            return session

    def _open(self) -> aiohttp.ClientSession:
        import aiohttp

        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=self._limit),
            timeout=aiohttp.ClientTimeout(total=self._timeout, sock_connect=_CONNECT_SECONDS),
            headers={"Content-Type": "application/json", **self._headers},
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=not is_loopback(self._stem),
        )

    async def aclose(self) -> None:
        """Close the running loop's session."""
        with self._lock:
            session = self._sessions.pop(asyncio.get_running_loop(), None)
        if session is not None:
            await session.close()

    def close(self) -> None:
        """Close every session, whatever has become of its loop. Call it from any thread."""
        with self._lock:
            sessions, self._sessions = self._sessions, {}
        for loop, session in sessions.items():
            _close(loop, session)


def _close(loop: asyncio.AbstractEventLoop, session: aiohttp.ClientSession) -> None:
    if loop.is_closed():
        # Nothing is left to wait for, so the coroutine runs to its end in one step.
        with contextlib.suppress(StopIteration):
            session.close().send(None)
    elif not loop.is_running():
        loop.run_until_complete(session.close())
    elif _runs_here(loop):
        loop.create_task(session.close())
    else:
        asyncio.run_coroutine_threadsafe(session.close(), loop).result(_CLOSE_SECONDS)


def _runs_here(loop: asyncio.AbstractEventLoop) -> bool:
    try:
        return asyncio.get_running_loop() is loop
    except RuntimeError:
        return False


def _reason(error: Exception) -> str:
    """Say what happened in one line; aiohttp's own text may hold the URL with its secrets."""
    cause = getattr(error, "os_error", None) or getattr(error, "certificate_error", None) or error
    if isinstance(cause, ssl.SSLError):
        return f"TLS failed: {getattr(cause, 'verify_message', '') or cause.reason}"
    if isinstance(cause, OSError) and not isinstance(cause, socket.gaierror) and cause.errno:
        return os.strerror(cause.errno)  # asyncio puts addresses into its own text
    return " ".join((getattr(cause, "strerror", None) or type(cause).__name__).split())
