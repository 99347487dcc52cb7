"""Secrets: masked in a configuration by name and looks, and in any text by their values.

A reply, a benchmark's prompt and a report are changed only where a key stands in them. What is one
by its looks has a piece of letters and digits mixed, as no word or number has; what is one by its
name is long. So a placeholder (``EMPTY``, ``not-needed``) hides nothing.
"""

from __future__ import annotations

__all__ = ["MASK", "Secrets", "mask", "mask_argument", "mask_settings"]

import base64
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NoReturn
from urllib.parse import quote, unquote

MASK = "***"
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_PASSWORD = {"passphrase", "passwd", "password"}
_SECRET = {
    *("apikey", "authorization", "bearer", "cookie", "credential", "credentials"),
    *("secret", "secrets", *_PASSWORD),
}
_SECRET_AT_END = {"auth", "key", "keys", "token"}
_SECRET_BEFORE_KEY = {"access", "api", "private"}
_NOT_SECRET = {"env"}  # api_key_env names a variable, it doesn't hold the key
_HEADERS = {"header", "headers"}
_USERINFO = re.compile(r"(://)([^/?#\s]+)(?=@)")
_QUERY = re.compile(r"(://[^\s?#]*\?)([^\s#]+)")
_LOOKS = re.compile(
    r"(?P<sure>\b(?i:authorization)\W{1,8}(?i:bearer|basic) )[\w.~+/-]+=*"
    r"|(?P<scheme>\b(?i:bearer|basic) )(?P<credential>[\w.~+/-]{16,}=*)"
    # OpenAI, Hugging Face, GitHub; also with stars in it, as servers quote it
    r"|(?P<prefix>\b(?:sk|pk|key|hf|ghp)[-_])(?:[\w.-]{0,80}\*\*[\w.*-]*|(?P<key>[\w-]{16,}))"
)
_HINTS = (
    *("authorization", "bearer", "basic"),
    *(f"{name}{mark}" for name in ("sk", "pk", "key", "hf", "ghp") for mark in "-_"),
)
"""One of these, in any case, is in all that :data:`_LOOKS` finds; looking for them is quicker."""
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


def mask_settings(value: Any, name: str = "") -> Any:
    """Return a benchmark's settings masked, prompts and names of fields left as they are.

    ``answer_key`` may name a column and ``keys`` several: such a value is secret only if it looks
    like a key. So is what stands in a text.
    """
    if value is not None and _is_surely_secret(name):
        return MASK
    if isinstance(value, Mapping):
        return {key: mask_settings(entry, str(key)) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [mask_settings(entry, name) for entry in value]
    if not isinstance(value, str):
        return value
    if _may_be_key(value) and _is_secret(name):
        return MASK
    text = _mask_looks(_USERINFO.sub(rf"\1{MASK}", value))
    return _QUERY.sub(lambda url: url[1] + _mask_query(url[2], all_values=False), text)


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
        for name, value in environment.items():
            if (name in named or _is_secret(name)) and _stands_for_key(value):
                values.add(value)
            values.update(_userinfo(value))
        keys = {v for v in values if len(v) >= _LONG and (_is_random(v) or _stands_for_key(v))}
        self._values = _longest_first(values)
        # as they stand in JSON: whatever is in a key, the JSON around it stays whole
        in_json = _longest_first({json.dumps(form)[1:-1] for form in _forms(keys)})
        self._in_json = [value.encode("utf-8", "replace") for value in in_json]
        starts = {key[:_SHOWN] for key in keys if _mixed(key, 0, _SHOWN)}
        ends = {key[-_SHOWN:] for key in keys if _mixed(key, len(key) - _SHOWN, len(key))}
        self._marks = sorted(starts | ends)
        self._starts = re.compile(f"(?:{_any_of(starts)}){_REST}*")
        self._ends = re.compile(_any_of(ends))

    def __reduce__(self) -> NoReturn:
        raise TypeError("secrets stay in their process")

    def hide(self, text: str) -> str:
        """Return ``text`` with ``***`` for each secret, also where it is cut short or starred."""
        for value in self._values:
            text = text.replace(value, MASK)
        if any(mark in text for mark in self._marks):
            text = self._hide_ends(self._starts.sub(MASK, text))
        return _mask_looks(text)

    def hide_echo(self, body: bytes) -> bytes:
        """Return JSON (a server's reply, say) with ``***`` for each whole key in it.

        Nothing else is changed: only what can hardly be anything but a key counts as one.
        """
        for value in self._in_json:
            body = body.replace(value, MASK.encode())
        return body

    def _hide_ends(self, text: str) -> str:
        """Hide each end of a key, and what stands before it without a gap."""
        kept: list[str] = []
        done = 0
        for found in self._ends.finditer(text):
            before = text[max(done, found.start() - _WIDEST) : found.start()]
            rest = _REST_RUN.match(before[::-1])
            begin = found.start() - (rest.end() if rest else 0)
            kept += [text[done:begin], MASK]
            done = found.end()
        return "".join([*kept, text[done:]])


_SHORTEST = 6
"""Characters of the shortest secret: a shorter one would be masked inside other words."""
_LONG, _SHOWN = 16, 8
"""A key is this long, and is known by so many characters at its start or end."""
_LONG_WORDS = 12
"""So long is one that has no digits."""
_NUMBER = re.compile(r"[\d.eE+-]+$")
_PLACEHOLDER = re.compile(r"(?i)no[-_]?key|not[-_]?(?:needed|required|used)|placeholder")
_REST = r"[\w*.…~+/=-]"
_REST_RUN, _WIDEST = re.compile(f"{_REST}*"), 80
_PIECE = re.compile(r"(?:[^\W_]|[@!$^&*+~#])+")


def _is_secret(name: str) -> bool:
    words = _words(name)
    if not words or words[-1] in _NOT_SECRET:
        return False
    return words[-1] in _SECRET_AT_END or not _SECRET.isdisjoint(words)


def _is_surely_secret(name: str) -> bool:
    """Tell whether a name can't be that of a column or a special token, as ``answer_key`` can."""
    words = _words(name)
    kind = words[-2] if len(words) > 1 else ""
    return _is_headers(name) or (
        _is_secret(name) and (kind in _SECRET_BEFORE_KEY or not _SECRET.isdisjoint(words))
    )


def _is_headers(name: str) -> bool:
    words = _words(name)
    return bool(words) and words[-1] in _HEADERS


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name)]


def _mask_text(text: str) -> str:
    text = _USERINFO.sub(rf"\1{MASK}", text)
    for pattern in _ASSIGNED:
        text = pattern.sub(rf"\g<1>{MASK}", text)
    return _QUERY.sub(lambda url: url[1] + _mask_query(url[2]), _mask_looks(text))


def _mask_looks(text: str) -> str:
    if text.isascii():  # a letter of another script may match one of these, whatever its case
        lower = text.lower()
        if not any(hint in lower for hint in _HINTS):
            return text
    return _LOOKS.sub(_mask_found, text)


def _mask_found(found: re.Match[str]) -> str:
    candidate = found["credential"] or found["key"]
    if candidate and not _is_credential(candidate):
        return found[0]
    return f"{found['sure'] or found['scheme'] or found['prefix']}{MASK}"


def _mask_query(query: str, *, all_values: bool = True) -> str:
    """Mask every value, and what has no name: servers call their keys ``sig``, ``code``, ...

    Else those that are keys by their looks.
    """
    fields = []
    for field in query.split("&"):
        name, equals, value = field.partition("=") if "=" in field else ("", "", field)
        hidden = all_values or _is_credential(value)
        fields.append(name + equals + (MASK if hidden else value))
    return "&".join(fields)


def _in_settings(
    value: Any, name: str = "", looks_secret: Callable[[str], bool] | None = None
) -> Iterator[str]:
    """Yield the texts that :func:`mask` would mask and that look like keys, and the passwords."""
    if _is_headers(name):
        looks_secret = looks_secret or _is_random
    elif _is_secret(name):
        looks_secret = _stands_for_key if _is_surely_secret(name) else _may_be_key
    if isinstance(value, Mapping):
        for key, entry in value.items():
            yield from _in_settings(entry, str(key), looks_secret)
    elif isinstance(value, (list, tuple)):
        for entry in value:
            yield from _in_settings(entry, "", looks_secret)
    elif isinstance(value, str):
        if looks_secret is not None:
            yield from filter(looks_secret, (value, value.rpartition(" ")[2]))  # behind Bearer
        if not _PASSWORD.isdisjoint(_words(name)):
            yield value
        for _, query in _QUERY.findall(value):
            yield from filter(_is_random, (f.partition("=")[2] for f in query.split("&")))
        yield from _userinfo(value)


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


def _is_credential(text: str) -> bool:
    """Tell whether a text is a key wherever it stands."""
    return len(text) >= _LONG and _is_random(text)


def _is_random(text: str) -> bool:
    """Tell whether a text that may be a key is hardly anything else: no words, path or URL.

    A model's name, a version or a date falls into short pieces, a number has no letters.
    """
    return _may_be_key(text) and _mixed(text, 0, len(text))


def _may_be_key(text: str) -> bool:
    """Tell whether a text whose name says that it is a key can be one, and no placeholder."""
    if len(text) < _SHOWN or re.search(r"^[/~.]|[\s;]|://", text) or _NUMBER.match(text):
        return False
    return any(map(str.isalpha, text)) and any(map(str.isdigit, text))


def _stands_for_key(text: str) -> bool:
    """Tell whether a text can be the key that its name says: one of words too, if it is long."""
    if _may_be_key(text):
        return True
    long = len(text) >= _LONG_WORDS and re.fullmatch(r"[\w+=~-][\w.+/=~-]*", text)
    return bool(long) and not (_NUMBER.match(text) or _PLACEHOLDER.search(text))


def _mixed(text: str, begin: int, end: int) -> bool:
    """Tell whether a piece of letters and digits mixed reaches into ``text[begin:end]``."""
    return any(
        len(piece[0]) >= _SHOWN and re.search(r"\d", piece[0]) and re.search(r"[^\W\d]", piece[0])
        for piece in _PIECE.finditer(text)
        if piece.start() < end and begin < piece.end()
    )


def _any_of(texts: Iterable[str]) -> str:
    """Return a regular expression for any of the texts; for none, one that never matches."""
    return "|".join(map(re.escape, sorted(texts))) or r"(?!)"


def _longest_first(values: Iterable[str]) -> list[str]:
    """Return texts in all their forms, those that hold others first."""
    known = {form for form in _forms(values) if len(form) >= _SHORTEST}
    return sorted(known, key=lambda form: (-len(form), form))


def _forms(values: Iterable[str]) -> set[str]:
    """Return texts as they stand, in a URL, and in JSON."""
    return {
        form
        for value in values
        for form in (value, unquote(value), quote(value, safe=""), json.dumps(value)[1:-1])
    }
