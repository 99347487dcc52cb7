"""The types that only type checkers and the runner need."""

from __future__ import annotations

__all__ = ["Link", "Settings", "Test"]

from types import CodeType
from typing import Any, Protocol, TypedDict


class Settings(TypedDict):
    """What the runner says of one execution."""

    kind: str
    owner: int  # the user that root becomes, who has no files and no other processes
    visible: list[str]
    private: str
    seconds: float
    memory: int
    file_size: int
    processes: int
    search: list[str]
    program: str


class Test(TypedDict):
    """A test as the runner prepares it: its free names, and those of Python among them."""

    setup: CodeType
    code: CodeType
    names: list[str]
    tools: list[str]
    check_names: tuple[str, str]


class Link(Protocol):
    """What references mean on this side."""

    def export(self, value: Any) -> int:
        """Return the number under which the other side may refer to ``value``."""

    def exported(self, number: int) -> Any:
        """Return the value exported as ``number``."""

    def imported(self, number: int, name: str) -> Any:
        """Return the stand-in for the other side's object ``number``."""

    def imported_error(self, number: int, name: str, base: type[BaseException]) -> Any:
        """Return the stand-in for the other side's class of exceptions ``number``."""

    def imported_value(self, number: int, value: Any) -> Any:
        """Return ``value`` with the other attributes of the other side's object ``number``."""

    def number_of(self, value: Any) -> int | None:
        """Return the other side's number for a stand-in, ``None`` for anything else."""
