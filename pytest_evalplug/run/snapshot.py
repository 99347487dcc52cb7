"""What a run was started with, kept beside its results and free of secrets."""

from __future__ import annotations

__all__ = ["MASK", "mask", "mask_argument", "read_object", "read_snapshot", "write_snapshot"]

import itertools
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_evalplug.errors import DataError
from pytest_evalplug.run.directory import RunDirectory, timestamp
from pytest_evalplug.run.jsonio import dumps, write_atomic

MASK = "***"
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SECRET = {
    *("authorization", "bearer", "cookie", "credential", "credentials"),
    *("passphrase", "passwd", "password", "secret", "secrets"),
}
_SECRET_AT_END = {"apikey", "auth", "key", "keys", "token"}
_NOT_SECRET = {"env"}  # api_key_env names a variable, it doesn't hold the key
_HEADERS = {"header", "headers"}
_IN_TEXT = (
    re.compile(r"(://)[^/?#\s]+(?=@)"),  # userinfo of a URL
    # an assignment on a command line
    re.compile(r"(?i)((?:key|token|secret|password)=)[^&\s'\"]+"),
    re.compile(r"(?i)(\bbearer )\S+"),
    re.compile(r"\b((?:sk|hf|ghp)[-_])[A-Za-z0-9_-]{16,}"),  # OpenAI, Hugging Face, GitHub
)
_QUERY = re.compile(r"(://[^\s?#]*\?)([^\s#]+)")


def write_snapshot(run: RunDirectory, config: Mapping[str, Any]) -> Path:
    """Write ``config``, masked, as ``configs/config_<time>.json``: one for every session.

    Callables become their names, other objects their text.
    """
    text = json.dumps(json.loads(dumps(mask(config))), indent=2) + "\n"
    path = run.configs / f"config_{timestamp()}.json"
    for number in itertools.count(2):
        if not path.exists():
            break
        path = run.configs / f"config_{timestamp()}~{number:03}.json"  # sorts behind the first
    write_atomic(path, text)
    return path


def read_snapshot(run: RunDirectory) -> dict[str, Any]:
    """Return the configuration of the latest session that asked a model; secrets read as ``***``.

    Raises DataError if the run has none or it is damaged.
    """
    paths = sorted(run.configs.glob("config_*.json"))
    fix = "Start a new run, or name the models with --model"
    if not paths:
        raise DataError("no configuration snapshot", where=str(run.configs), fix=fix)
    configs: list[dict[str, Any]] = []
    for path in reversed(paths):
        configs.append(read_object(path, fix=fix))
        if configs[-1].get("stage") != "eval":
            return configs[-1]
    return configs[0]


def read_object(path: Path, *, fix: str = "") -> dict[str, Any]:
    """Return a file's JSON object. Raises DataError, with ``fix``, if it holds anything else."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"damaged: {error}", where=str(path), fix=fix) from error
    if not isinstance(found, dict):
        raise DataError("damaged: no JSON object", where=str(path), fix=fix)
    return found


def mask(value: Any, name: str = "") -> Any:
    """Return ``value`` with ``***`` for what is secret by its name, its place or its looks.

    Secret are: values whose name says key, token, secret, password or authorization; the values
    of ``headers``; the userinfo and the query's values in a URL; what looks like an API key.
    """
    words = [word.lower() for word in _WORD.findall(name)]
    if value is not None and _is_secret(words):
        return MASK
    if words and words[-1] in _HEADERS:
        return dict.fromkeys(value, MASK) if isinstance(value, Mapping) else MASK
    if isinstance(value, Mapping):
        return {key: mask(entry, str(key)) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [mask(entry) for entry in value]
    return _mask_text(value) if isinstance(value, str) else value


def mask_argument(argument: str) -> str:
    """Return a command line's argument, the JSON that ``NAME=JSON`` ends in masked."""
    name, equals, rest = argument.partition("=")
    start = min((i for i in map(rest.find, "{[") if i >= 0), default=-1)
    try:
        value = json.loads(rest[start:]) if start >= 0 else None
    except ValueError:
        value = None
    if value is None:
        return argument
    return f"{name}{equals}{rest[:start]}{json.dumps(mask(value, name))}"


def _is_secret(words: list[str]) -> bool:
    if not words or words[-1] in _NOT_SECRET:
        return False
    return words[-1] in _SECRET_AT_END or not _SECRET.isdisjoint(words)


def _mask_text(text: str) -> str:
    for pattern in _IN_TEXT:
        text = pattern.sub(rf"\g<1>{MASK}", text)
    return _QUERY.sub(lambda url: url[1] + _mask_query(url[2]), text)


def _mask_query(query: str) -> str:
    """Mask every value, and what has no name: servers call their keys ``sig``, ``code``, ..."""
    fields = (field.partition("=") for field in query.split("&"))
    return "&".join(f"{name}={MASK}" if equals else MASK for name, equals, _ in fields)
