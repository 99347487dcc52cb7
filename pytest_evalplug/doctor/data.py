"""Where questions come from: the data folders and the hub."""

from __future__ import annotations

__all__ = ["at_hand", "hub", "shipped"]

import os
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_evalplug.dataset.catalogue import find_all
from pytest_evalplug.dataset.meta import BenchmarkMeta
from pytest_evalplug.doctor.check import Check, ok, problem, warn
from pytest_evalplug.model.transport import shown_url

_OFFLINE = ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE")
_YES = {"1", "ON", "YES", "TRUE"}
_SECONDS = 5.0
_importing = threading.Lock()


def shipped() -> dict[str, BenchmarkMeta]:
    """Return the shipped benchmarks; their modules are imported by one thread at a time."""
    with _importing:
        return {entry.name: entry.meta for entry in find_all()}


def at_hand(folders: Sequence[Path]) -> Iterator[Check]:
    """Say which benchmarks have a folder in the data folders."""
    if not folders:
        yield warn(
            "data dir",
            "none: every benchmark asks the hub",
            "Give --data-dir or EVALPLUG_DATA_DIR where there is no network",
        )
        return
    known = shipped()
    for folder in folders:
        if not folder.is_dir():
            yield problem("data dir", f"{folder} is no folder", "Correct --data-dir")
            continue
        found = sorted(known.keys() & {path.name for path in folder.iterdir() if path.is_dir()})
        text = f"{folder}: {len(found)} of {len(known)} shipped benchmarks"
        if found:
            yield ok("data dir", f"{text} ({', '.join(found)})")
        else:
            yield warn("data dir", text, "Data lies in <data dir>/<benchmark>/<split>.jsonl")


def hub() -> Iterator[Check]:
    """Ask the hub for its head, through the proxies that the environment names."""
    offline = [name for name in _OFFLINE if os.environ.get(name, "").upper() in _YES]
    if offline:
        yield ok("hub", f"not asked, as {' and '.join(offline)} says: local data and caches only")
        return
    url = os.environ.get("HF_ENDPOINT") or "https://huggingface.co"
    proxies = ", ".join(
        f"{scheme} through {shown_url(proxy)}"
        for scheme, proxy in urllib.request.getproxies().items()
        if scheme in ("http", "https")
    )
    by = f" ({proxies})" if proxies else ""
    start = time.monotonic()
    try:
        request = urllib.request.Request(url, method="HEAD")
        with urllib.request.urlopen(request, timeout=_SECONDS):
            pass
    except urllib.error.HTTPError:
        pass  # it answers
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        yield warn(
            "hub",
            f"{shown_url(url)} can't be reached{by}: {reason}",
            "Fine where the data dir has all that you run; set HF_HUB_OFFLINE=1 then. Else mend "
            "the network, HTTPS_PROXY or HF_ENDPOINT",
        )
        return
    yield ok("hub", f"{shown_url(url)} answers in {time.monotonic() - start:.1f} s{by}")
