from __future__ import annotations

import contextlib
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalplug.evaluation.sandbox.inside.codec import CodecError, Reader, Writer
from pytest_evalplug.evaluation.sandbox.inside.peer import Peer

LINK = Peer(-1, -1, lambda *_: False)

scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.binary()
    | st.text(st.characters()) | st.complex_numbers(allow_nan=False) | st.decimals(allow_nan=False)
    | st.fractions() | st.dates() | st.timedeltas()
)  # fmt: skip
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner, inner)
        | st.dictionaries(scalars, inner)
        | st.sets(scalars)
        | st.frozensets(scalars)
    ),
    max_leaves=20,
)


def there_and_back(value: Any) -> Any:
    writer = Writer(LINK)
    writer.write(value)
    return Reader(bytes(writer.out), LINK).read()


@given(values)
def test_values_arrive_as_they_are(value: Any) -> None:
    back = there_and_back(value)
    assert back == value
    assert repr(back) == repr(value) or isinstance(value, (set, frozenset, dict, list, tuple))


def test_what_is_shared_stays_shared() -> None:
    inner: list[Any] = [1]
    inner.append(inner)
    back = there_and_back([inner, inner])
    assert back[0] is back[1] is back[0][1]


def test_nan_and_signed_zero() -> None:
    assert math.isnan(there_and_back(math.nan))
    assert math.copysign(1, there_and_back(-0.0)) == -1


def test_builtins_are_the_readers_own() -> None:
    assert there_and_back([int, len, ValueError]) == [int, len, ValueError]


def test_a_subclass_is_read_as_what_it_holds() -> None:
    class Liar(int):
        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = int.__hash__

    back = there_and_back([Liar(7)])[0]
    assert isinstance(back, int)
    assert back == 7
    assert back != 4


@given(st.binary(max_size=60))
def test_garbage_is_refused(data: bytes) -> None:
    for prefix in (b"", b"L", b"t\x02" + bytes(7), b"x", b"e", b"u"):
        with contextlib.suppress(CodecError):
            Reader(prefix + data, LINK).read()


def test_depth_is_refused() -> None:
    with pytest.raises(CodecError, match="recursion"):
        Reader((b"t\x01" + bytes(7)) * 100_000, LINK).read()
