"""Arguments picked by name from what a run has."""

from __future__ import annotations

__all__ = [
    "TestSet",
    "asks_for",
    "named_parameters",
    "pick_arguments",
    "to_columns",
    "with_derived",
]

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from pytest_evalplug.errors import ConfigError, nearest

_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class TestSet:
    """The rows of a test set, read as a ``datasets.Dataset`` is.

    ``test_set[i]`` is a row, ``test_set["question"]`` a column, a slice a dict of columns. A list
    of dicts underneath, so that columns may hold values of any types.
    """

    __test__ = False  # pytest would collect the name in modules that import it

    def __init__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        self._rows = [dict(row) for row in rows]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self._rows)

    def __getitem__(self, key: int | str | slice) -> Any:
        if isinstance(key, str):
            if key not in self.column_names:
                raise ConfigError(
                    f"the test set has no column {key!r}", fix=nearest(key, self.column_names)
                )
            return [row.get(key) for row in self._rows]
        return to_columns(self._rows[key]) if isinstance(key, slice) else self._rows[key]

    @property
    def column_names(self) -> list[str]:
        """The names that any row has."""
        return list(dict.fromkeys(name for row in self._rows for name in row))

    def select(self, indices: Iterable[int]) -> TestSet:
        """Return the rows at these places."""
        return TestSet([self._rows[i] for i in indices])


def with_derived(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a prediction record with what follows from it, unless an inferencer wrote that.

    ``prompt`` is ``origin_prompt``; ``res_length`` and ``all_input_length`` are the characters of
    the reply as it came (a list of candidates: a list of numbers) and of the prompt's texts.
    """
    derived: dict[str, Any] = {}
    if "origin_prompt" in record:
        prompt = record["origin_prompt"]
        derived = {"prompt": prompt, "all_input_length": _prompt_length(prompt)}
    if "prediction" in record:
        reply = record["prediction"]
        derived["res_length"] = (
            [*map(_length, reply)] if isinstance(reply, list) else _length(reply)
        )
    return {**derived, **record}


def _prompt_length(prompt: Any) -> int:
    if not isinstance(prompt, list):
        return _length(prompt)
    contents = [message.get("content") for message in prompt]
    parts = (part for c in contents for part in (c if isinstance(c, list) else [c]))
    # a part that is no text (a picture) has no length in characters
    return sum(_length(part.get("text") if isinstance(part, dict) else part) for part in parts)


def _length(text: Any) -> int:
    return 0 if text is None else len(str(text))


def to_columns(records: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Turn records into columns of equal length; a key that a record lacks is ``None`` there."""
    names = dict.fromkeys(name for record in records for name in record)
    return {name: [record.get(name) for record in records] for name in names}


def asks_for(function: Callable[..., Any], name: str) -> bool:
    """Tell whether ``function`` has a parameter called ``name``."""
    return name in inspect.signature(function).parameters


def named_parameters(function: Callable[..., Any], *, where: str = "") -> list[inspect.Parameter]:
    """Return the parameters of ``function``, all of which can be picked by name.

    Raises ConfigError for ``*args``, ``**kwargs`` and positional-only parameters.
    """
    parameters = _parameters(function)
    for parameter in parameters:
        if parameter.kind not in _BY_NAME:
            raise ConfigError(
                f"{_name(function)}() takes {parameter}, but its arguments are picked by name",
                where=where,
                fix="Declare each argument that it reads.",
            )
    return parameters


def pick_arguments(
    function: Callable[..., Any], available: Mapping[str, Any], *, where: str = ""
) -> dict[str, Any]:
    """Return the entries of ``available`` that ``function`` has parameters for.

    Raises ConfigError for a parameter without a default that is not available (naming it and
    listing what there is), and as :func:`named_parameters` does.
    """
    arguments = {}
    for parameter in named_parameters(function, where=where):
        if parameter.name in available:
            arguments[parameter.name] = available[parameter.name]
        elif parameter.default is parameter.empty:
            raise ConfigError(
                f"{_name(function)}() asks for {parameter.name!r}, which this run does not have",
                where=where,
                fix=nearest(parameter.name, available),
            )
    return arguments


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """Return the parameters of ``function``; those of a method are looked up once for its class."""
    if inspect.ismethod(function):
        return _method_parameters(function.__func__)[1:]
    return list(inspect.signature(function).parameters.values())


@lru_cache(maxsize=256)
def _method_parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    return list(inspect.signature(function).parameters.values())


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__qualname__", repr(function))
