"""Secrets: masked in a configuration by name and looks, and in any text by their values."""

from __future__ import annotations

__all__ = ["MASK", "Secrets", "mask", "mask_argument"]

import base64
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NoReturn
from urllib.parse import quote, unquote

MASK = "***"
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SECRET = {
    *("authorization", "bearer", "cookie", "credential", "credentials"),
    *("passphrase", "passwd", "password", "secret", "secrets"),
}
_SECRET_AT_END = {"apikey", "auth", "key", "keys", "token"}
_NOT_SECRET = {"env"}  # api_key_env names a variable, it doesn't hold the key
_HEADERS = {"header", "headers"}
_USERINFO = re.compile(r"(://)([^/?#\s]+)(?=@)")
_QUERY = re.compile(r"(://[^\s?#]*\?)([^\s#]+)")
_LOOKS = (
    re.compile(r"(?i)(\b(?:bearer|basic) )[\w.~+/-]{8,}=*"),
    # OpenAI, Hugging Face, GitHub; also with stars in it, as servers quote it
    re.compile(r"\b((?:sk|pk|key|hf|ghp)[-_])(?:[\w-]{16,}|[\w.-]{0,80}\*\*[\w.*-]*)"),
)
_ASSIGNED = (
    re.compile(r"(?i)((?:key|token|secret|password)=)[^&\s'\"]+"),  # on a command line
    re.compile(r"(?i)(\bbearer )\S+"),
)


def mask(value: Any, name: str = "") -> Any:
    """Return ``value`` with ``***`` for what is secret by its name, its place or its looks.

    Secret are: values whose name says key, token, secret, password or authorization; the values
    of ``headers``; the userinfo and the query's values in a URL; what looks like an API key.
    """
    if value is not None and _is_secret(name):
        return MASK
    if _is_headers(name):
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
    except (ValueError, RecursionError):
        value = None
    if value is None:
        return argument
    return f"{name}{equals}{rest[:start]}{json.dumps(mask(value, name))}"


class Secrets:
    """The texts that may not be shown or kept, known from a configuration and the environment.

    ``settings`` are the models' tables, or whatever holds secrets where :func:`mask` finds them;
    from the environment come the variables whose name says so, or that an ``api_key_env`` names,
    and the passwords in URLs (of proxies, say).
    """

    def __init__(self, *settings: Any, environment: Mapping[str, str] = os.environ) -> None:
        values = set(_in_settings(settings))
        named = set(_values_of("api_key_env", settings))
        keys = {value for value in values if _is_random(value)}
        for name, value in environment.items():
            if name in named or (_is_secret(name) and _is_random(value)):
                keys.add(value)
            keys.update(_userinfo(value))
        self._keys = _longest_first(keys)
        self._values = _longest_first(values | keys)
        long = [value for value in self._keys if len(value) >= _LONG]
        starts = {value[:_SHOWN] for value in long}
        ends = {value[-_SHOWN:] for value in long}
        self._marks = sorted(starts | ends)
        before, after = ("|".join(map(re.escape, sorted(marks))) for marks in (starts, ends))
        self._parts = re.compile(rf"(?:{before}){_REST}*|{_REST}{{0,80}}(?:{after})")

    def __reduce__(self) -> NoReturn:
        raise TypeError("secrets stay in their process")

    def hide(self, text: str) -> str:
        """Return ``text`` with ``***`` for each secret, also where it is cut short or starred."""
        for value in self._values:
            text = text.replace(value, MASK)
        if any(mark in text for mark in self._marks):
            text = self._parts.sub(MASK, text)
        for pattern in _LOOKS:
            text = pattern.sub(rf"\g<1>{MASK}", text)
        return text

    def hide_echo(self, body: bytes) -> bytes:
        """Return a server's reply with ``***`` for each whole key in it, and nothing else changed.

        What does not look like a key stays: a header's value may be a word of the reply.
        """
        for value in self._keys:
            body = body.replace(value.encode("utf-8", "replace"), MASK.encode())
        return body


_SHORTEST = 6
"""Characters of the shortest secret: a shorter one would be masked inside other words."""
_LONG, _SHOWN = 16, 8
"""A secret this long is known by so many characters at its start or end."""
_REST = r"[\w*.…~+/=-]"


def _is_secret(name: str) -> bool:
    words = _words(name)
    if not words or words[-1] in _NOT_SECRET:
        return False
    return words[-1] in _SECRET_AT_END or not _SECRET.isdisjoint(words)


def _is_headers(name: str) -> bool:
    words = _words(name)
    return bool(words) and words[-1] in _HEADERS


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name)]


def _mask_text(text: str) -> str:
    text = _USERINFO.sub(rf"\1{MASK}", text)
    for pattern in (*_ASSIGNED, *_LOOKS):
        text = pattern.sub(rf"\g<1>{MASK}", text)
    return _QUERY.sub(lambda url: url[1] + _mask_query(url[2]), text)


def _mask_query(query: str) -> str:
    """Mask every value, and what has no name: servers call their keys ``sig``, ``code``, ..."""
    fields = (field.partition("=") for field in query.split("&"))
    return "&".join(f"{name}={MASK}" if equals else MASK for name, equals, _ in fields)


def _in_settings(value: Any, name: str = "", *, secret: bool = False) -> Iterator[str]:
    """Yield the texts that :func:`mask` would mask."""
    secret = secret or _is_secret(name) or _is_headers(name)
    if isinstance(value, Mapping):
        for key, entry in value.items():
            yield from _in_settings(entry, str(key), secret=secret)
    elif isinstance(value, (list, tuple)):
        for entry in value:
            yield from _in_settings(entry, secret=secret)
    elif isinstance(value, str):
        if secret:
            yield value
            yield value.rpartition(" ")[2]  # what follows Bearer
        yield from _userinfo(value)
        for _, query in _QUERY.findall(value):
            fields = (field.partition("=") for field in query.split("&"))
            yield from (text for name, _, text in fields if "version" not in name)


def _userinfo(text: str) -> Iterator[str]:
    """Yield the passwords in URLs, and user and password as a header has them."""
    if "@" not in text:
        return
    for _, userinfo in _USERINFO.findall(text):
        yield userinfo
        yield userinfo.partition(":")[2]
        yield base64.b64encode(unquote(userinfo).encode()).decode()


def _values_of(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, entry in value.items():
            yield from (
                [entry] if key == name and isinstance(entry, str) else _values_of(name, entry)
            )
    elif isinstance(value, (list, tuple)):
        for entry in value:
            yield from _values_of(name, entry)


def _is_random(text: str) -> bool:
    """Tell whether a text can hardly be anything but a key: letters and digits, no path, no URL.

    Of a header or a variable of the environment that is nothing else is known.
    """
    if len(text) < _SHOWN or re.search(r"^[/~.]|[\s;]|://", text):
        return False
    return any(map(str.isalpha, text)) and any(map(str.isdigit, text))


def _longest_first(values: Iterable[str]) -> list[str]:
    """Return texts as they stand, in a URL, and in JSON, those that hold others first."""
    known = {
        variant
        for value in values
        for variant in (value, unquote(value), quote(value, safe=""), json.dumps(value)[1:-1])
        if len(variant) >= _SHORTEST
    }
    return sorted(known, key=lambda variant: (-len(variant), variant))
