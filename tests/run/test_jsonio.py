from __future__ import annotations

import functools
import json
import os
import re
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalplug.run.jsonio import digest, dumps, json_object, write_atomic

NASTY = "a\u2028b\u2029c\x85d\x00e\x1b[31mf\ud800g\udfff\r\nh\U0001f600\x9b"


@dataclass
class Point:
    x: int
    tags: set[str]


def test_any_reply_is_one_line_of_utf8() -> None:
    line = dumps({"prediction": NASTY})
    assert len(line.splitlines()) == 1  # splitlines knows every separator
    assert json.loads(line.encode("utf-8")) == {"prediction": NASTY}


def test_readable_text_stays_readable() -> None:
    assert dumps({"问": "é 😀"}) == '{"问": "é 😀"}'


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**63), 2**63)
        | st.floats(allow_nan=False)
        | st.text(st.characters(exclude_categories=())),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_values_come_back(value: Any) -> None:
    # two escaped halves of a pair read as the character they stand for
    joined = json.loads(json.dumps(value))
    assert json.loads(dumps(value).encode()) == joined


def test_non_finite_numbers_come_back() -> None:
    nan, infinite = json.loads(dumps([float("nan"), float("-inf")]))
    assert nan != nan
    assert infinite == float("-inf")


def test_what_json_does_not_know_is_written_by_its_content() -> None:
    import numpy

    written = json.loads(
        dumps([Point(1, {"b", "a"}), numpy.float32(0.5), numpy.arange(2), Path("p")])
    )
    assert written == [{"x": 1, "tags": ["a", "b"]}, 0.5, [0, 1], "p"]


def test_digest_has_no_memory_address_in_it() -> None:
    class Plain:
        pass

    def make() -> list[Any]:
        return [Plain(), functools.partial(dumps, 1), dumps, Plain]

    assert digest(make()) == digest(make())


def test_digest_ignores_the_order_of_keys_and_sees_values() -> None:
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    assert digest({"a": 1}) != digest({"a": "1"})
    assert digest("\ud800") != digest("\ud801")


def test_digest_is_the_same_in_another_process() -> None:
    code = "from pytest_evalplug.run.jsonio import digest; print(digest({'a': {'x', 'y'}}, 6))"
    env = {**os.environ, "PYTHONHASHSEED": "7"}
    other = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    assert other.stdout.strip() == digest({"a": {"x", "y"}}, 6)
    assert re.fullmatch("[0-9a-f]{6}", other.stdout.strip())


def test_json_object_of_any_size() -> None:
    assert json.loads("".join(json_object([]))) == {}
    assert json.loads("".join(json_object([('"', "1"), ("b", "[]")]))) == {'"': 1, "b": []}


def test_write_atomic_replaces_and_leaves_nothing_beside(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "file.json"
    write_atomic(path, "old")
    write_atomic(path, ["n", "ew\n"])
    assert path.read_bytes() == b"new\n"
    assert os.listdir(path.parent) == ["file.json"]


def test_write_atomic_keeps_the_old_file_if_writing_fails(tmp_path: Path) -> None:
    def broken() -> Iterator[str]:
        yield "half"
        raise RuntimeError("no more")

    path = tmp_path / "file.json"
    write_atomic(path, "old")
    with pytest.raises(RuntimeError):
        write_atomic(path, broken())
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file.json"]


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
def test_write_atomic_makes_files_as_readable_as_any_other(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    write_atomic(tmp_path / "atomic", "")
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("plain", "atomic")]
    assert modes[0] == modes[1]
