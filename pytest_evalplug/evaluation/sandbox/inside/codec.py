"""Values as bytes, for two processes of which one does not trust the other.

Plain values (numbers, text, lists, dicts, ...) are copied; their types are exact, so nothing that
a program defines takes part when they are compared. Instances of its own subclasses of plain types
are copied as what they hold, and keep a reference for their other attributes. Everything else
(functions, classes, iterators, objects) crosses as a reference to the side that has it.

Unlike pickle and marshal, reading makes no other objects than these and fails cleanly.
"""

from __future__ import annotations

__all__ = ["BASES", "CodecError", "Reader", "Writer", "apply_state", "state_of"]

import builtins
import struct
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .job import Link

# plain types, of whose subclasses instances are copied as what they hold
BASES = (int, float, complex, str, bytes, bytearray, tuple, list, dict, set, frozenset)
_SHARED: dict[type, bytes] = {list: b"L", dict: b"D", set: b"S", bytearray: b"B"}
_MODULE = type(sys)

# builtins that give a program no more hold on the checker than a value does
_HARMLESS: dict[str, Any] = {value.__name__: value for value in (
    abs, all, any, ascii, bin, bool, bytearray, bytes, chr, complex, dict, divmod, enumerate,
    filter, float, frozenset, hex, int, isinstance, iter, len, list, map, max, min, next, oct, ord,
    pow, range, repr, reversed, round, set, slice, sorted, str, sum, tuple, zip,
)}  # fmt: skip

# name of a class of the standard library -> what its constructor takes to build an equal object
_REBUILT: dict[str, Callable[[Any], tuple[Any, ...]]] = {
    "builtins.range": lambda v: (v.start, v.stop, v.step),
    "builtins.slice": lambda v: (v.start, v.stop, v.step),
    "collections.Counter": lambda v: (dict(v),),
    "collections.OrderedDict": lambda v: (tuple(v.items()),),
    "collections.defaultdict": lambda v: (v.default_factory, dict(v)),
    "collections.deque": lambda v: (tuple(v), v.maxlen),
    "datetime.date": lambda v: (v.year, v.month, v.day),
    "datetime.datetime": lambda v: (
        *(v.year, v.month, v.day, v.hour, v.minute, v.second, v.microsecond, v.tzinfo),
    ),
    "datetime.time": lambda v: (v.hour, v.minute, v.second, v.microsecond, v.tzinfo),
    "datetime.timezone": lambda v: (v.utcoffset(None),),
    "datetime.timedelta": lambda v: (v.days, v.seconds, v.microseconds),
    "decimal.Decimal": lambda v: (str(v),),
    "fractions.Fraction": lambda v: (v.numerator, v.denominator),
}


class CodecError(Exception):
    """The other side sent what no honest peer sends."""


class Writer:
    """Writes values; ``shared`` lists the mutable containers that both sides hold, in order."""

    def __init__(self, link: Link, shared: list[Any] | None = None) -> None:
        self.out = bytearray()
        self.shared = list(shared or ())
        self._link = link
        self._places = {id(value): place for place, value in enumerate(self.shared)}

    def write(self, value: Any) -> None:
        """Append one value."""
        write = _WRITE.get(type(value))
        if write is not None:
            write(self, value)
        else:
            self._write_other(value)

    def _tag(self, tag: bytes, number: int) -> None:
        self.out += tag
        self.out += struct.pack("<q", number)

    def _text(self, value: str) -> None:
        data = value.encode("utf-8", "surrogatepass")
        self._tag(b"s", len(data))
        self.out += data

    def _int(self, value: int) -> None:
        data = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
        self._tag(b"i", len(data))
        self.out += data

    def _float(self, value: float) -> None:
        self.out += b"f"
        self.out += struct.pack("<d", value)

    def _complex(self, value: complex) -> None:
        self.out += b"c"
        self.out += struct.pack("<dd", value.real, value.imag)

    def _bytes(self, value: bytes) -> None:
        self._tag(b"b", len(value))
        self.out += value

    def _items(self, tag: bytes, values: Any) -> None:
        self._tag(tag, len(values))
        for value in values:
            self.write(value)

    def _container(self, value: Any) -> None:
        place = self._places.get(id(value))
        if place is not None:
            self._tag(b"r", place)
            return
        self._places[id(value)] = len(self.shared)
        self.shared.append(value)
        self.out += _SHARED[type(value)]
        self.write(state_of(value))

    def _write_other(self, value: Any) -> None:
        link, kind = self._link, type(value)
        number = link.number_of(value)
        if number is not None:
            self._tag(b"m", number)
        elif kind is _MODULE and _is_standard(value.__name__):
            self.out += b"M"
            self.write(value.__name__)
        elif _is_builtin(value):
            self.out += b"g"
            self.write(value.__name__)
        elif isinstance(value, BaseException):
            self.out += b"e"
            self.write(kind)
            self.write(_arguments(value))
        elif isinstance(value, type) and issubclass(value, BaseException):
            self._tag(b"E", link.export(value))
            self.write(value.__name__)
            self.write(next(base for base in value.__mro__ if _is_builtin(base)).__name__)
        elif (name := _rebuilt_name(kind)) is not None:
            self.out += b"x"
            self.write(name)
            self.write(_REBUILT[name](value))
        else:
            self._write_reference(value)

    def _write_reference(self, value: Any) -> None:
        number = self._link.export(value)
        if type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0:
            value = value.item()
        base = next((base for base in BASES if issubclass(type(value), base)), None)
        if base is None:
            self._tag(b"o", number)
            self.write(type(value).__name__)
        else:
            self._tag(b"u", number)
            self.write(str.__str__(value) if base is str else base(value))


_WRITE: dict[type, Any] = {
    type(None): lambda w, v: w.out.extend(b"N"),
    bool: lambda w, v: w.out.extend(b"T" if v else b"F"),
    int: Writer._int,
    float: Writer._float,
    complex: Writer._complex,
    str: Writer._text,
    bytes: Writer._bytes,
    tuple: lambda w, v: w._items(b"t", v),
    frozenset: lambda w, v: w._items(b"z", v),
    **dict.fromkeys(_SHARED, Writer._container),
}


class Reader:
    """Reads what a Writer wrote; raises CodecError for anything else."""

    def __init__(self, data: bytes, link: Link, shared: list[Any] | None = None) -> None:
        self.shared = list(shared or ())
        self._data = data
        self._at = 0
        self._link = link

    def read(self) -> Any:
        """Read the next value."""
        try:
            return self._read()
        except CodecError:
            raise
        except Exception as error:  # an unhashable key, a constructor that refuses, depth
            raise CodecError(f"{type(error).__name__}: {error}") from None

    def _read(self) -> Any:
        tag = self._take(1)
        read = _READ.get(tag)
        if read is None:
            raise CodecError("unknown tag")
        return read(self)

    def _take(self, size: int) -> bytes:
        end = self._at + size
        if size < 0 or end > len(self._data):
            raise CodecError("a message ends early")
        part = self._data[self._at : end]
        self._at = end
        return part

    def _number(self) -> int:
        number: int = struct.unpack("<q", self._take(8))[0]
        return number

    def _expect(self, kind: type) -> Any:
        value = self._read()
        if type(value) is not kind:
            raise CodecError(f"{kind.__name__} expected")
        return value

    def _values(self) -> list[Any]:
        count = self._number()
        if not 0 <= count <= len(self._data) - self._at:  # each takes a byte at least
            raise CodecError("a message ends early")
        return [self._read() for _ in range(count)]

    def _container(self, empty: Any) -> Any:
        self.shared.append(empty)
        apply_state(empty, self._read())
        return empty

    def _shared(self) -> Any:
        place = self._number()
        if not 0 <= place < len(self.shared):
            raise CodecError("no such container")
        return self.shared[place]

    def _builtin(self) -> Any:
        value = getattr(builtins, self._expect(str), None)
        if not _is_builtin(value):
            raise CodecError("no such builtin")
        return value

    def _module(self) -> Any:
        name = self._expect(str)
        if not _is_standard(name):
            raise CodecError("no module of the standard library")
        return __import__(name, fromlist=["*"])

    def _error(self) -> BaseException:
        kind, arguments = self._read(), self._expect(tuple)
        if not (isinstance(kind, type) and issubclass(kind, BaseException)):
            raise CodecError("no exception")
        try:
            return kind(*arguments)
        except Exception:  # few are as particular as UnicodeDecodeError
            return Exception(*arguments)

    def _error_class(self) -> Any:
        number, name, base = self._number(), self._expect(str), self._expect(str)
        kind = getattr(builtins, base, None)
        if not (isinstance(kind, type) and issubclass(kind, BaseException)):
            raise CodecError("no exception")
        return self._link.imported_error(number, name, kind)

    def _rebuilt(self) -> Any:
        name, arguments = self._expect(str), self._expect(tuple)
        if name not in _REBUILT:
            raise CodecError("no such class")
        module, _, attribute = name.partition(".")
        return getattr(__import__(module), attribute)(*arguments)

    def _subclassed(self) -> Any:
        number, value = self._number(), self._read()
        if type(value) not in BASES:
            raise CodecError("no plain value")
        return self._link.imported_value(number, value)


_READ: dict[bytes, Any] = {
    b"N": lambda r: None,
    b"T": lambda r: True,
    b"F": lambda r: False,
    b"i": lambda r: int.from_bytes(r._take(r._number()), "little", signed=True),
    b"f": lambda r: struct.unpack("<d", r._take(8))[0],
    b"c": lambda r: complex(*struct.unpack("<dd", r._take(16))),
    b"s": lambda r: r._take(r._number()).decode("utf-8", "surrogatepass"),
    b"b": lambda r: r._take(r._number()),
    b"t": lambda r: tuple(r._values()),
    b"z": lambda r: frozenset(r._values()),
    b"L": lambda r: r._container([]),
    b"D": lambda r: r._container({}),
    b"S": lambda r: r._container(set()),
    b"B": lambda r: r._container(bytearray()),
    b"r": Reader._shared,
    b"m": lambda r: r._link.exported(r._number()),
    b"o": lambda r: r._link.imported(r._number(), r._expect(str)),
    b"u": Reader._subclassed,
    b"g": Reader._builtin,
    b"M": Reader._module,
    b"e": Reader._error,
    b"E": Reader._error_class,
    b"x": Reader._rebuilt,
}


def state_of(container: Any) -> Any:
    """Return what a mutable container holds, as a tuple or bytes."""
    if isinstance(container, dict):
        return tuple(dict.items(container))
    return bytes(container) if isinstance(container, bytearray) else tuple(container)


def apply_state(container: Any, state: Any) -> None:
    """Make a mutable container hold ``state``; it stays the same object."""
    if type(state) is not (bytes if isinstance(container, bytearray) else tuple):
        raise CodecError("no state of a container")
    if isinstance(container, (list, bytearray)):
        container[:] = state
    else:
        container.clear()
        container.update(state)


def _is_standard(module: str) -> bool:
    return module.partition(".")[0] in sys.stdlib_module_names


def _is_builtin(value: Any) -> bool:
    """Tell whether both sides may use their own: not ``eval``, ``open`` or ``getattr``."""
    if isinstance(value, type) and issubclass(value, BaseException):
        return getattr(builtins, value.__name__, None) is value
    return isinstance(value, (type, type(len))) and _HARMLESS.get(value.__name__) is value


def _rebuilt_name(kind: type) -> str | None:
    name = f"{kind.__module__}.{kind.__name__}"
    known = name in _REBUILT and getattr(sys.modules.get(kind.__module__), kind.__name__) is kind
    return name if known else None


def _arguments(error: BaseException) -> tuple[Any, ...]:
    return tuple(a if type(a) in _WRITE else str(a) for a in error.args)
