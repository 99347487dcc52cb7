"""A field of a JSON object in a reply."""

from __future__ import annotations

__all__ = ["json_field"]

import json
import re
from collections.abc import Iterator
from typing import Any

from pytest_evalplug.evaluation.postprocess.think import without_reasoning
from pytest_evalplug.evaluation.registry import postprocessors

_OBJECT = re.compile(r'\{\s*["}]')
_READINGS, _ATTEMPT = 10, 1_000
"""Hostile text is given up when misread objects have cost as much as ten readings of it, where
each costs at least a thousand characters (and a thousand of them are free)."""


class _Written(str):
    """A number, or a constant, as it is written."""


_DECODER = json.JSONDecoder(
    strict=False, parse_float=_Written, parse_int=_Written, parse_constant=_Written
)


@postprocessors.register("json-field")
def json_field(text: Any, field: str = "answer", *, invalid: str = "") -> str:
    r"""Return ``field`` of the last JSON object in the reply that has it, or else ``invalid``.

    The object may be fenced, bare, or have text around it. ``a.b`` is the field ``b`` of the
    object in ``a``. Numbers come as they are written, true and false as in JSON, the members of
    a list joined by ``", "``; null and objects are ``invalid``. Objects in the reply's reasoning
    don't count. Nothing is evaluated, and hostile text is given up in linear time.

    >>> json_field('Sure: {"result": {"letter": "B"}, "note": "{}"}', field="result.letter")
    'B'
    """
    path = field.split(".")
    values = (_as_text(_value(found, path)) for found in _objects(without_reasoning(text)))
    return next(reversed([value for value in values if value is not None]), invalid)


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the outermost JSON objects of ``text``."""
    position, budget = 0, _READINGS * len(text) + 1_000 * _ATTEMPT
    while budget > 0 and (found := _OBJECT.search(text, position)):
        start = found.start()
        position = start + 1
        try:
            value, position = _DECODER.raw_decode(text, start)
            yield value
        except json.JSONDecodeError as error:
            unclosed = error.msg.startswith("Unterminated")
            budget -= max(_ATTEMPT, (len(text) if unclosed else error.pos) - start)
        except RecursionError:
            budget -= len(text) - start


def _value(found: Any, path: list[str]) -> Any:
    for key in path:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def _as_text(value: Any) -> str | None:
    if isinstance(value, list):
        members = [_as_text(member) for member in value]
        return None if None in members else ", ".join(filter(None, members))
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value).strip() if isinstance(value, str) else None
