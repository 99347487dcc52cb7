from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_evalplug.errors import DataError
from pytest_evalplug.run.jsonio import dumps, json_object, write_atomic
from pytest_evalplug.run.merged import MergedFile

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
records = st.dictionaries(
    st.text(), st.dictionaries(st.text(), values, min_size=1, max_size=4), max_size=6
)


def write(path: Path, content: dict[str, Any]) -> MergedFile:
    offsets: dict[str, int] = {}
    texts = ((index, dumps(record)) for index, record in content.items())
    write_atomic(path, json_object(texts, offsets))
    merged = MergedFile(path)
    assert merged._offsets == offsets  # who has written it need not read it
    return merged


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(content=records)
def test_records_come_back_whatever_they_hold(tmp_path: Path, content: dict[str, Any]) -> None:
    merged = write(tmp_path / "m.json", content)
    assert dict(merged) == content
    assert [json.loads(merged.text(index)) for index in merged] == list(content.values())
    assert not merged._whole  # each was read from its line


def test_there_may_be_no_file(tmp_path: Path) -> None:
    merged = MergedFile(tmp_path / "m.json")
    assert dict(merged) == {}
    assert merged.get("0") is None


@pytest.mark.parametrize("indent", [None, 2])
def test_an_edited_file_is_read_as_a_whole(tmp_path: Path, indent: int | None) -> None:
    content = {"0": {"prediction": "a"}, "1": {"error": "down"}}
    path = tmp_path / "m.json"
    path.write_text(json.dumps(content, indent=indent))
    merged = MergedFile(path)
    assert dict(merged) == content
    assert json.loads(merged.text("1")) == {"error": "down"}
    assert "1" in merged
    assert "2" not in merged


@pytest.mark.parametrize(
    "text", ["", "{", '{\n"0": {"a": 1},\n"1": {"b"\n}\n', '{\n"0": 1\n}\n', "[]"]
)
def test_a_damaged_file_is_one_clear_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "m.json"
    path.write_text(text)
    with pytest.raises(DataError, match=r"m\.json: the prediction file can't be read") as caught:
        MergedFile(path)
    assert "\n" not in str(caught.value)


def test_a_file_that_was_let_go_is_opened_again(tmp_path: Path) -> None:
    merged = write(tmp_path / "m.json", {"0": {"a": 1}})
    assert merged["0"] == {"a": 1}
    merged.close()
    assert merged["0"] == {"a": 1}
