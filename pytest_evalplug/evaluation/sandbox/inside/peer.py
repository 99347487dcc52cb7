"""Calls between two processes over a pair of pipes, in both directions."""

from __future__ import annotations

__all__ = ["Peer", "PeerLostError"]

import os
import struct
from _thread import RLock

from .codec import CodecError, Reader, Writer, apply_state, state_of
from .remote import OPERATIONS, Remote, awaited, extended

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_LONGEST = 256 * 2**20


class PeerLostError(BaseException):
    """The other process has ended, or talks nonsense; no ``except Exception`` may hide that."""


class Peer:
    """One end of the line: asks the other side, and serves it while waiting for an answer.

    ``allow(name, target, args)`` says what the other side may do with this side's objects;
    ``depth`` counts the requests being served; ``lost`` says why there can be no more answers.
    """

    def __init__(self, incoming: int, outgoing: int, allow: Callable[..., bool]) -> None:
        self.depth = 0
        self.lost: str = ""
        self._incoming, self._outgoing = incoming, outgoing
        self._allow = allow
        self._exports: list[Any] = []
        self._numbers: dict[int, int] = {}
        self._errors: dict[int, type[BaseException]] = {}
        self._line = RLock()

    def ask(self, operation: str, target: Any, *args: Any, **kwargs: Any) -> Any:
        """Have the other side do ``operation`` with its object; return or raise what comes of it.

        Lists, dicts and sets among the arguments that are changed over there change here too.
        Raises PeerLostError when there is no answer to be had.
        """
        with self._line:
            request = Writer(self)
            request.write((operation, target, args, tuple(kwargs.items())))
            self._send(b"?", request.out)
            while True:
                kind, data = self._receive()
                if kind == b"?":
                    self._serve_one(data)
                    continue
                return self._result(kind, data, request.shared)

    def serve(self) -> None:
        """Serve the other side until it ends."""
        while True:
            kind, data = self._receive()
            if kind == b"?":
                self._serve_one(data)

    def _result(self, kind: bytes, data: bytes, shared: list[Any]) -> Any:
        try:
            reader = Reader(data, self, shared)
            result, states = reader.read(), reader.read()
            for container, state in zip(shared, states, strict=True):
                apply_state(container, state)
        except (CodecError, TypeError, ValueError) as error:
            raise self._lose(f"unreadable answer: {error}") from None
        if kind == b"=":
            return result
        if not isinstance(result, BaseException):
            raise self._lose("an error that is none")
        raise result

    def _serve_one(self, data: bytes) -> None:
        reader = Reader(data, self)
        try:
            operation, target, args, kwargs = reader.read()
            kwargs = dict(kwargs)
        except (CodecError, TypeError, ValueError) as error:
            raise self._lose(f"unreadable request: {error}") from None
        kind, result = b"=", None
        self.depth += 1
        try:
            own = id(target) in self._numbers  # kept, so that the number can't be another's
            if not (own and operation in OPERATIONS and self._allow(operation, target, args)):
                raise TypeError(f"{operation} is not allowed here")
            result = OPERATIONS[operation](target, *args, **kwargs)
        except PeerLostError:
            raise
        except BaseException as error:
            kind, result = b"!", error
        finally:
            self.depth -= 1
        self._send(kind, self._answer(result, reader.shared))

    def _answer(self, result: Any, shared: list[Any]) -> bytearray:
        writer = Writer(self, shared)
        writer.write(result)
        # contents may bring in containers that are new to the other side, which only learns them
        writer.write(tuple(state_of(container) for container in shared))
        return writer.out

    def _lose(self, why: str) -> PeerLostError:
        self.lost = why
        return PeerLostError(why)

    def _send(self, kind: bytes, data: bytearray) -> None:
        message = memoryview(kind + struct.pack("<Q", len(data)) + data)
        try:
            while message:
                message = message[os.write(self._outgoing, message) :]
        except OSError:
            raise self._lose("ended") from None

    def _receive(self) -> tuple[bytes, bytes]:
        head = self._read(9)
        size: int = struct.unpack("<Q", head[1:])[0]
        if head[:1] not in b"?=!" or size > _LONGEST:
            raise self._lose("not a message")
        return head[:1], self._read(size)

    def _read(self, size: int) -> bytes:
        parts = []
        while size:
            part = os.read(self._incoming, min(size, 2**20))
            if not part:
                raise self._lose("ended")
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    # What references mean (codec.Link):

    def export(self, value: Any) -> int:
        """Keep ``value`` for the other side to refer to."""
        number = self._numbers.get(id(value))
        if number is None:
            number = self._numbers[id(value)] = len(self._exports)
            self._exports.append(value)
        return number

    def exported(self, number: int) -> Any:
        """Return what was exported as ``number``."""
        if not 0 <= number < len(self._exports):
            raise CodecError("no such object")
        return self._exports[number]

    def imported(self, number: int, name: str) -> Any:
        """Return a stand-in for the other side's object."""
        remote = Remote(self.ask, number, name)
        return awaited(remote) if name == "coroutine" else remote

    def imported_value(self, number: int, value: Any) -> Any:
        """Return a plain value with the attributes of the other side's object."""
        return extended(value, Remote(self.ask, number, type(value).__name__))

    def imported_error(self, number: int, name: str, base: type[BaseException]) -> Any:
        """Return the stand-in for the other side's class of exceptions, always the same."""
        if number not in self._errors:
            self._errors[number] = type(name, (base,), {})
        return self._errors[number]

    def number_of(self, value: Any) -> int | None:
        """Return the number by which the other side knows what ``value`` stands for."""
        if type(value) is Remote:
            number: int = value._evalplug_number
            return number
        if "_evalplug_remote" in getattr(value, "__dict__", ()):
            return self.number_of(value._evalplug_remote)
        if isinstance(value, type) and value in self._errors.values():
            return next(n for n, stand_in in self._errors.items() if stand_in is value)
        return None
