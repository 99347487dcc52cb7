"""Which Ray cluster this process is part of: one that runs, or one of its own."""

from __future__ import annotations

__all__ = ["import_ray", "join", "leave"]

import logging
import os
import signal
import socket
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pytest_evalplug.errors import ConfigError, one_line

_STORE_BYTES = 256 * 1024**2
"""Of the object store of a cluster of our own: it holds prompts and replies, nothing else."""
_CONNECT_SECONDS = 10.0

_lock = threading.Lock()
_members = 0
"""Models of this process that are in the cluster; the last one leaves it."""
_joined = False
"""Whether we connected, and not the user's own code."""


def import_ray(where: str) -> Any:
    """Return the module ``ray``. Raises ConfigError that names the extra."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about its own internals
            import ray
    except ImportError as error:
        raise ConfigError(
            f"engine = 'ray' needs ray ({one_line(error)})",
            where=where,
            fix="pip install 'pytest-evalplug[ray]', on each node",
        ) from error
    return ray


def join(address: str | None, where: str, *, alone: bool = True) -> Any:
    """Connect this process to a cluster and return the module ``ray``.

    That is the cluster at ``address``, in ``RAY_ADDRESS`` or that runs on this machine; if there
    is none, one is started here, unless this process is not ``alone``. A connection that the
    user's code has made is used. Raises ConfigError.
    """
    global _members, _joined
    ray = import_ray(where)
    with _lock:
        if not ray.is_initialized():
            with _as_it_was():
                _connect(ray, address or os.environ.get("RAY_ADDRESS"), where, alone)
            _joined = True
        _members += 1
    return ray


def leave() -> None:
    """Disconnect after the last model; a cluster that was started here ends."""
    global _members, _joined
    import ray

    with _lock:
        _members -= 1
        if _members == 0 and _joined:
            _joined = False
            ray.shutdown()


def _connect(ray: Any, address: str | None, where: str, alone: bool) -> None:
    silent = {"log_to_driver": False, "logging_level": logging.ERROR}
    _check_reachable(address, where)
    try:
        ray.init(address=address or "auto", **silent)
    except (ConnectionError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        if address or not isinstance(error, ConnectionError):
            raise _no_cluster(address, where, one_line(error)) from error
        if not alone:
            raise ConfigError(
                "with -n its replicas need a Ray cluster that is running already",
                where=where,
                fix="Start one (ray start --head), or leave -n away: replicas work side by side "
                "anyway, -n only spreads the scoring",
            ) from error
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        ray.init(
            address="local", include_dashboard=False, object_store_memory=_STORE_BYTES, **silent
        )


def _check_reachable(address: str | None, where: str) -> None:
    """Try ``host:port`` first: Ray itself goes on trying for minutes."""
    host, _, port = (address or "").rpartition(":")
    if not host or not port.isdigit():
        return
    try:
        socket.create_connection((host.rpartition("/")[2], int(port)), _CONNECT_SECONDS).close()
    except OSError as error:
        raise _no_cluster(address, where, one_line(error)) from error


def _no_cluster(address: str | None, where: str, why: str) -> ConfigError:
    return ConfigError(
        f"no Ray cluster at {address!r} ({why})" if address else f"can't start Ray ({why})",
        where=where,
        fix="Check ray_address and RAY_ADDRESS (host:port of the head node), 'ray status' there, "
        "and its token, if it wants one (RAY_AUTH_MODE=token, RAY_AUTH_TOKEN or ~/.ray/auth_token)"
        if address
        else "See /tmp/ray/session_latest/logs",
    )


@contextmanager
def _as_it_was() -> Iterator[None]:
    """Keep Ray's warnings, and its handler of SIGTERM, out of a process that is pytest's."""
    main = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGTERM)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        if main and handler is not None:
            signal.signal(signal.SIGTERM, handler)
