"""A configured postprocessor: functions with their options, applied in order."""

from __future__ import annotations

__all__ = ["Postprocessor", "resolve_postprocessor"]

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_evalplug.errors import ConfigError, nearest
from pytest_evalplug.evaluation.registry import postprocessors


@dataclass(frozen=True, slots=True)
class Postprocessor:
    """One function ``(text, **options) -> value`` with the options it is configured with."""

    function: Callable[..., Any]
    options: Mapping[str, Any]
    accepted: frozenset[str]
    """The names of the function's parameters."""

    def __str__(self) -> str:
        return getattr(self.function, "__name__", repr(self.function))

    def __call__(self, value: Any, **context: Any) -> Any:
        """Return the function's result; a list is a list of candidates, done one by one.

        ``context`` holds what is known of the sample (``options``: its letters); the function
        gets what it has a parameter for and what is not configured.
        """
        known = {k: v for k, v in context.items() if k in self.accepted}
        if isinstance(value, list):
            return [self.function(v, **{**known, **self.options}) for v in value]
        return self.function(value, **{**known, **self.options})


def resolve_postprocessor(spec: Any, *, where: str = "") -> tuple[Postprocessor, ...]:
    """Return what ``spec`` means, as steps to apply in order.

    ``spec`` is a callable, a registered name, ``dict(type=..., key=value)``, a list of these, or
    ``None`` for no step. Raises ConfigError for an unknown name and for options that the
    function does not take or lacks.
    """
    if spec is None:
        return ()
    if isinstance(spec, (list, tuple)):
        return tuple(step for part in spec for step in resolve_postprocessor(part, where=where))
    options = dict(spec) if isinstance(spec, Mapping) else {"type": spec}
    function = options.pop("type", None)
    if isinstance(function, str):
        function = postprocessors.get(function, where=where)
    if not callable(function):
        raise ConfigError(
            f"a postprocessor is a function, a name or dict(type=...), not {spec!r}", where=where
        )
    _check_options(function, options, where)
    return (Postprocessor(function, options, frozenset(inspect.signature(function).parameters)),)


def _check_options(function: Callable[..., Any], options: Mapping[str, Any], where: str) -> None:
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())[1:]
    takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters)
    names = [p.name for p in parameters]
    label = getattr(function, "__name__", repr(function))
    for name in options:
        if name not in names and not takes_any:
            raise ConfigError(
                f"postprocessor {label} has no option {name!r}",
                where=where,
                fix=nearest(name, names),
            )
    try:
        signature.bind("", **options)
    except TypeError as error:
        raise ConfigError(f"postprocessor {label}: {error}", where=where) from None


def apply_steps(steps: tuple[Postprocessor, ...], value: Any, **context: Any) -> Any:
    """Return ``value`` after all steps."""
    for step in steps:
        value = step(value, **context)
    return value
