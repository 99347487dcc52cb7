"""The process that runs the test, and so decides."""

from __future__ import annotations

__all__ = ["FILE_NAME", "check"]

import sys
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType

from .peer import Peer, PeerLostError
from .remote import Remote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .job import Test

NAME = "test"
FILE_NAME = "<test>"
_FUNCTIONS = (FunctionType, MethodType, BuiltinFunctionType, type)
_ATTRIBUTES = frozenset({"get", "set", "delete"})
_LOAD, _NAMES = 0, 1  # what program.run exports
_LONGEST_REASON = 500


class Checks:
    """Counts what the test really checks."""

    def __init__(self, peer: Peer) -> None:
        self.done = 0
        self.failed = False
        self._peer = peer

    def check(self, value: Any) -> bool:
        """Stand around the condition of an ``assert``."""
        self.done += 1
        holds = bool(value)
        if not holds and self._peer.depth:  # the program may catch what is raised to it
            self.failed = True
        return holds

    def seen(self, value: Any = None) -> Any:
        """Stand before a statement that raises by itself, and around an ``assert...`` function."""
        self.done += 1
        return value


def allow(operation: str, target: Any, args: tuple[Any, ...]) -> bool:
    """Tell whether the program may do this with an object that the test handed to it.

    Functions and classes can be called, no more; attributes, but for private ones, only of
    instances of the test's own classes: anything else leads to the test's variables.
    """
    if isinstance(target, _FUNCTIONS):
        return operation in ("call", "str", "repr")
    if operation in _ATTRIBUTES:
        own = type(target).__module__ == NAME
        return own and type(args[0]) is str and not args[0].startswith("_")
    return operation not in ("call", "run") or type(target).__module__ == NAME


def check(peer: Peer, program: str, test: Test) -> tuple[str, int, str]:
    """Load the program over there, run the test here.

    Returns a status, the line of the test that settled it (or 0) and the reason.
    """
    checks = Checks(peer)
    space = ModuleType(NAME).__dict__
    space.update(zip(test["check_names"], (checks.check, checks.seen), strict=True))
    try:
        Remote(peer.ask, _LOAD, "function")(program)
    except PeerLostError as error:
        return "error", 0, f"the program stopped the process that loaded it ({error})"
    except BaseException as error:
        return "error", 0, f"loading the program raised {_text(error)}"
    try:
        exec(test["setup"], space)
        used = _bring_names(peer, space, test)
        exec(test["code"], space)
    except BaseException as error:
        status = "fail" if isinstance(error, AssertionError) else "error"
        if not peer.lost:
            return status, _line(error), _text(error)
    if peer.lost:
        return "error", 0, f"the program stopped its process during the test ({peer.lost})"
    if checks.failed:
        return "fail", 0, "an assertion in a function that the program called"
    if not (checks.done and used):
        return "error", 0, "the test checked nothing of the program"
    return "pass", 0, ""


def _bring_names(peer: Peer, space: dict[str, Any], test: Test) -> bool:
    """Give the test the names that it uses and the program defines; tell whether there are any.

    Python's own functions and modules stay Python's, whatever the program calls so, unless the
    test uses nothing else of the program (a task may be to write ``sum``).
    """

    def defined(wanted: list[str]) -> dict[str, Any]:
        found = Remote(peer.ask, _NAMES, "function")(tuple(wanted))
        return {name: found[name] for name in wanted if name in found}  # and nothing else

    wanted = [name for name in test["names"] if name not in space]
    tools = [name for name in wanted if name in test["tools"]]
    found = defined([name for name in wanted if name not in test["tools"]])
    own = defined(tools)
    if found:
        own = {name: __import__(name) for name in own if name in sys.stdlib_module_names}
    space.update(own | found)
    return bool(own or found)


def _text(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"[:_LONGEST_REASON]
    except BaseException:  # an argument that is an object of the program's
        return type(error).__name__


def _line(error: BaseException) -> int:
    """Return the last line of the test's own code on the way to the error."""
    line, step = 0, error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == FILE_NAME:
            line = step.tb_lineno
        step = step.tb_next
    return line
