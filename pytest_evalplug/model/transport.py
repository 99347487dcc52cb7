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
import time
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol
from urllib.parse import urlsplit

from pytest_evalplug.errors import one_line

if TYPE_CHECKING:
    import aiohttp

_CLOSE_SECONDS = 5.0
_CONNECT_SECONDS = 15.0
_STALE_SECONDS = 0.5
"""Within these a connection that was closed before the request came turns out to be."""
_LARGEST_BODY = 64 * 2**20
"""Bytes, unpacked. A reply of 128k tokens with 20 log-probabilities each has about 50 MB."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole HTTP answer; ``headers`` are looked up by lower-case names."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


class TransportError(Exception):
    """No whole answer came.

    ``kind`` is ``refused`` (nobody there: connection refused, name unknown, TLS), ``timeout``,
    ``broken`` (the connection ended too early, or what came is not HTTP), or ``endless`` (more
    than any reply can be).
    """

    def __init__(self, kind: Literal["refused", "timeout", "broken", "endless"], text: str) -> None:
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

        data = None if body is None else json.dumps(body).encode()
        try:
            async with await self._respond(method, path, data) as response:
                return Reply(response.status, await _read(response), response.headers)
        except aiohttp.ClientConnectorError as error:
            raise TransportError("refused", _reason(error)) from error
        except aiohttp.ConnectionTimeoutError as error:
            raise TransportError("refused", "the host does not respond") from error
        except asyncio.TimeoutError as error:
            raise TransportError("timeout", f"no answer within {self._timeout:g} s") from error
        except aiohttp.InvalidURL as error:
            raise TransportError("refused", "base_url is not a URL") from error
        except ValueError as error:  # a host that is no name, two ways to authenticate
            raise TransportError("refused", one_line(error)) from error
        except (aiohttp.ClientError, OSError) as error:
            raise TransportError("broken", _reason(error)) from error

    async def _respond(self, method: str, path: str, data: bytes | None) -> aiohttp.ClientResponse:
        """Send a request and return the head of the answer.

        A server may close a connection at the moment at which it is used again. That is no
        fault, and a request on another connection follows at once (RFC 9112, section 9.3.1). One
        on which the server has worked for a while is another matter: it may have been counted.
        """
        import aiohttp

        opened: list[None] = []
        _OPENED.set(opened)
        for again in (True, False):
            begin = time.monotonic()
            try:
                # Redirects are not followed: most turn the POST into a GET, and the key would
                # travel along.
                return await self._session().request(
                    method,
                    f"{self._stem}/{path}{self._query}",
                    data=data,
                    allow_redirects=False,
                )
            except aiohttp.ClientConnectorError:
                raise
            except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
                reused = not opened
                if not (again and reused and time.monotonic() - begin < _STALE_SECONDS):
                    raise
        raise AssertionError("unreachable: the second try returns or raises")

    def _session(self) -> aiohttp.ClientSession:
        loop = asyncio.get_running_loop()
        if (session := self._sessions.get(loop)) is not None:
            return session
        with self._lock:
            for old in [known for known in self._sessions if known.is_closed()]:
                _close(old, self._sessions.pop(old))
            session = self._sessions[loop] = self._open()
            return session

    def _open(self) -> aiohttp.ClientSession:
        import aiohttp

        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=self._limit, socket_factory=_open_socket),
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


_OPENED: ContextVar[list[None]] = ContextVar("evalplug_opened")
"""Has an entry for each connection that the current request has opened."""


def _open_socket(address: tuple[int, int, int, str, Any]) -> socket.socket:
    """Open a socket as asyncio would, and take note that no connection was used again."""
    _OPENED.get().append(None)
    family, kind, protocol, _, _ = address
    return socket.socket(family=family, type=kind, proto=protocol)


async def _read(response: aiohttp.ClientResponse) -> bytes:
    body = bytearray()
    while chunk := await response.content.readany():
        body += chunk
        if len(body) > _LARGEST_BODY:
            response.close()
            raise TransportError("endless", f"the reply exceeds {_LARGEST_BODY >> 20} MiB")
    return bytes(body)


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
    import aiohttp

    cause = getattr(error, "os_error", None) or getattr(error, "certificate_error", None) or error
    if isinstance(cause, ssl.SSLError):
        reason = f"TLS failed: {getattr(cause, 'verify_message', '') or cause.reason}"
    elif isinstance(cause, OSError) and not isinstance(cause, socket.gaierror) and cause.errno:
        reason = os.strerror(cause.errno)  # asyncio puts addresses into its own text
    else:
        reason = _worded(cause)
    proxy = isinstance(error, aiohttp.ClientProxyConnectionError)
    return f"the proxy: {reason}" if proxy else reason


def _worded(error: BaseException) -> str:
    import aiohttp

    if isinstance(error, aiohttp.ServerDisconnectedError):
        return "the server closed the connection without an answer"
    if isinstance(error, aiohttp.ClientPayloadError):
        broken = "content-encoding" in f"{error} {error.__cause__}"
        return "the content-encoding is wrong" if broken else "the answer broke off"
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return f"the proxy says {error.status}"
    if isinstance(error, aiohttp.ClientResponseError):
        return "the answer is not HTTP"
    return " ".join((getattr(error, "strerror", None) or type(error).__name__).split())
