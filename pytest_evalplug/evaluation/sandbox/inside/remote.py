"""Stand-ins for objects of the other process."""

from __future__ import annotations

__all__ = ["OPERATIONS", "Remote", "awaited", "extended"]

import operator

from .codec import BASES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator
    from typing import Any


def _run(coroutine: Any) -> Any:
    import asyncio

    return asyncio.run(coroutine)


OPERATIONS: dict[str, Callable[..., Any]] = {
    "run": _run,
    "call": lambda target, *args, **kwargs: target(*args, **kwargs),
    "get": getattr,
    "set": setattr,
    "delete": delattr,
    "iter": iter,
    "next": next,
    "len": len,
    "item": operator.getitem,
    "set_item": operator.setitem,
    "delete_item": operator.delitem,
    "str": str,
    "repr": repr,
    "isinstance": lambda kind, value: isinstance(value, kind),
    **{name: getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")},
    **{name: getattr(operator, name) for name in ("add", "sub", "mul", "truediv", "neg")},
}
"""What may be asked of an object: name -> function of the object and what is passed."""


class Remote:
    """An object of the other process.

    It can be called, iterated, indexed, measured and printed, and has its attributes. It equals
    and is ordered against other objects of that process only, as these say themselves; beside a
    plain value it is unequal, and arithmetic with one, ``in``, truth and conversion to a number
    don't ask it: an object could claim anything there.
    """

    __slots__ = ("_evalplug_ask", "_evalplug_number", "_evalplug_type")

    def __init__(self, ask: Callable[..., Any], number: int, name: str) -> None:
        set_here = object.__setattr__
        set_here(self, "_evalplug_ask", ask)
        set_here(self, "_evalplug_number", number)
        set_here(self, "_evalplug_type", name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: D102
        return self._evalplug_ask("call", self, *args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__name__":
            raise AttributeError(name)
        return self._evalplug_ask("get", self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._evalplug_ask("set", self, name, value)

    def __delattr__(self, name: str) -> None:
        self._evalplug_ask("delete", self, name)

    def __iter__(self) -> Iterator[Any]:
        return _Iterator(self._evalplug_ask, self._evalplug_ask("iter", self))

    def __next__(self) -> Any:
        return self._evalplug_ask("next", self)

    def __len__(self) -> int:
        return operator.index(self._evalplug_ask("len", self))

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, key: Any) -> Any:
        return self._evalplug_ask("item", self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._evalplug_ask("set_item", self, key, value)

    def __delitem__(self, key: Any) -> None:
        self._evalplug_ask("delete_item", self, key)

    __contains__ = None  # `in` would take the object's word

    def __str__(self) -> str:
        return str.__str__(self._evalplug_ask("str", self))

    def __repr__(self) -> str:
        return str.__str__(self._evalplug_ask("repr", self))

    def __instancecheck__(self, value: Any) -> bool:
        return isinstance(value, Remote) and bool(self._evalplug_ask("isinstance", self, value))

    def __hash__(self) -> int:
        return hash((Remote, self._evalplug_number))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Remote) and self._evalplug_ask("eq", self, other) is True

    def __ne__(self, other: object) -> bool:
        return not self == other


class _Iterator:
    """Items of the other process's iterator."""

    def __init__(self, ask: Callable[..., Any], iterator: Any) -> None:
        self._ask = ask
        self._iterator = iterator

    def __iter__(self) -> _Iterator:
        return self

    def __next__(self) -> Any:
        if isinstance(self._iterator, Remote):
            return self._ask("next", self._iterator)
        raise TypeError("not an iterator")


def _documentation(self: Remote) -> Any:
    return self._evalplug_ask("get", self, "__doc__")


def _between_remotes(name: str) -> Callable[[Remote, Any], Any]:
    def method(self: Remote, other: Any) -> Any:
        if not isinstance(other, Remote):
            return NotImplemented
        return self._evalplug_ask(name, self, other)

    return method


for _name in ("lt", "le", "gt", "ge", "add", "sub"):
    setattr(Remote, f"__{_name}__", _between_remotes(_name))
Remote.__doc__ = property(_documentation)  # type: ignore[assignment]  # else that of this class


def awaited(remote: Remote) -> Coroutine[Any, Any, Any]:
    """Return a coroutine that has one of the other process run there, from start to end."""

    async def run() -> Any:
        return remote._evalplug_ask("run", remote)

    return run()


def _get_from_remote(self: Any, name: str) -> Any:
    if name.startswith("__") or "_evalplug_remote" not in self.__dict__:
        raise AttributeError(name)
    return getattr(self._evalplug_remote, name)


def _shown(operation: str) -> Callable[[Any], str]:
    def show(self: Any) -> str:
        return str.__str__(self._evalplug_remote._evalplug_ask(operation, self._evalplug_remote))

    return show


_EXTRAS = {"__getattr__": _get_from_remote, "__str__": _shown("str"), "__repr__": _shown("repr")}
_EXTENDED = {base: type(base.__name__, (base,), dict(_EXTRAS)) for base in BASES}


def extended(value: Any, remote: Remote) -> Any:
    """Return a plain value that has the attributes of an object of the other process, too."""
    result = _EXTENDED[type(value)](value)
    result._evalplug_remote = remote
    return result
