"""Named things that configuration refers to by text."""

from __future__ import annotations

__all__ = ["Registry"]

from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

from pytest_evalplug.errors import ConfigError, nearest

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


class Registry(Generic[T]):
    """An ordered table of names that refuses duplicates and suggests near names."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._entries: dict[str, T] = {}

    def register(self, *names: str) -> Callable[[F], F]:
        """Decorate a function or class to be known by ``names``.

        Raises ConfigError if a name is taken by something else.
        """

        def decorate(entry: F) -> F:
            for name in names:
                self.add(name, entry)  # type: ignore[arg-type]
            return entry

        return decorate

    def add(self, name: str, entry: T) -> None:
        """Register ``entry``; raises ConfigError naming both places if ``name`` is taken."""
        old = self._entries.get(name)
        if old is not None and _place(old) != _place(entry):
            raise ConfigError(
                f"{self.kind} {name!r} is registered twice: {_place(old)} and {_place(entry)}",
                fix="Rename one of them.",
            )
        self._entries[name] = entry

    def get(self, name: str, *, where: str = "") -> T:
        """Return the entry; raises ConfigError with the nearest names if there is none."""
        try:
            return self._entries[name]
        except KeyError:
            raise ConfigError(
                f"unknown {self.kind} {name!r}", where=where, fix=nearest(name, self)
            ) from None

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)


def _place(entry: object) -> str:
    return f"{getattr(entry, '__module__', '?')}.{getattr(entry, '__qualname__', repr(entry))}"
