from __future__ import annotations

import base64
import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalplug.dataset.readers import read_table
from pytest_evalplug.errors import DataError

Write = Callable[[str, "str | bytes"], Path]
Cases = Callable[[str], list[dict[str, Any]]]


def typed(value: Any) -> Any:
    """Make ``1``, ``1.0`` and ``True`` different."""
    return json.dumps(value, sort_keys=True)


def test_all_labelled_files(cases: Cases, write: Write) -> None:
    for case in cases("dataset_rows"):
        path = write(f"{case['id']}.{case['format']}", base64.b64decode(case["file_b64"]))
        if case["expected_rows"] == {"error": True}:
            with pytest.raises(DataError) as error:
                read_table(path)
            assert f"{path}:" in str(error.value), case["id"]
        else:
            assert typed(read_table(path).records) == typed(case["expected_rows"]), case["id"]


def test_every_real_file_is_read_as_json_reads_it(data_dir: Path) -> None:
    files = [p for p in data_dir.rglob("*.jsonl") if "replies" not in p.parts]
    assert len(files) > 60
    for path in files:
        lines = path.read_text(encoding="utf-8").split("\n")
        expected = [json.loads(line) for line in lines if line.strip()]
        columns = {name for record in expected for name in record}
        table = read_table(path)
        assert len(table.records) == len(expected), path
        for record, row in zip(table.records, expected, strict=True):
            assert record == {name: row.get(name) for name in columns}, path


def test_lines_count_blank_ones(write: Write) -> None:
    table = read_table(write("x.jsonl", '\n{"a": 1}\n\n \t\r\n{"a": 2}'))
    assert table.lines == [2, 5]
    assert table.origin.where(1).endswith("x.jsonl:5")


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ('{"a": 1}\n{"a": ', 2, "not a JSON value"),
        ('{"a": 1} {"a": 2}\n', 1, "something follows the JSON value"),
        ('{"a": [1\n2]},{"a": 3}\n', 1, "not a JSON value"),
        ("[1]\n", 1, "a JSON object is needed, not a list"),
        ("null\n", 1, "a JSON object is needed, not null"),
        ("[" * 100_000, 1, "not a JSON value"),
    ],
)
def test_broken_json_lines(write: Write, text: str, line: int, what: str) -> None:
    path = write("x.jsonl", text)
    with pytest.raises(DataError) as error:
        read_table(path)
    assert str(error.value).startswith(f"{path}:{line}: {what}")
    assert "\n" not in str(error.value)


def test_utf16_is_named(write: Write) -> None:
    with pytest.raises(DataError, match=r"x\.jsonl:1: not UTF-8\. Convert the file to UTF-8"):
        read_table(write("x.jsonl", '{"a": 1}'.encode("utf-16")))


@pytest.mark.parametrize(
    "text",
    [
        '[{"a": 1}, {"a": 2, "b": "x"}]',
        '{"version": 1, "examples": [{"a": 1}, {"a": 2, "b": "x"}], "notes": []}',
        '{"a": 1}\n{"a": 2, "b": "x"}\n',
        '\ufeff[{"a": 1}, {"a": 2, "b": "x"}]',
    ],
)
def test_json(write: Write, text: str) -> None:
    records = read_table(write("x.json", text)).records
    assert records == [{"a": 1, "b": None}, {"a": 2, "b": "x"}]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('[{"a": 1}, 2]', ", row 1: a JSON object is needed, not a number"),
        ('{"a": 1, "b": [1]}', ":1: a list of objects is needed, not an object"),
        ('"x"', ":1: a list of objects is needed, not a text"),
        ('[{"a": 1},\n {"a": }]', ":2: not JSON"),
    ],
)
def test_broken_json(write: Write, text: str, what: str) -> None:
    with pytest.raises(DataError) as error:
        read_table(write("x.json", text))
    assert what in str(error.value)


def test_csv_short_row_and_open_quote(write: Write) -> None:
    with pytest.raises(DataError, match=r"x\.csv:4: 1 fields, but the header has 2"):
        read_table(write("x.csv", 'a,b\n"two\nlines",1\nshort\n'))
    with pytest.raises(DataError, match=r"x\.csv:3: not readable as CSV"):
        read_table(write("x.csv", 'a,b\n1,2\n"open,2\n3,4\n'))


def test_csv_double_column(write: Write) -> None:
    with pytest.raises(DataError, match="the column 'a' stands twice"):
        read_table(write("x.csv", "a,b,a\n1,2,3\n"))


def test_csv_long_field_and_the_limit_is_put_back(write: Write) -> None:
    before = csv.field_size_limit()
    (record,) = read_table(write("x.csv", f"a\n{'x' * (before + 1)}\n")).records
    assert len(record["a"]) == before + 1
    assert csv.field_size_limit() == before


def test_csv_blank_lines_and_header_only(write: Write) -> None:
    table = read_table(write("x.csv", "a,b\n\n1,2\n\n"))
    assert (table.records, table.lines) == ([{"a": "1", "b": "2"}], [3])
    assert read_table(write("y.csv", "a,b\n")).records == []
    assert read_table(write("z.csv", "")).records == []


def test_tsv_keeps_texts(write: Write) -> None:
    table = read_table(write("x.tsv", "id\tzip, city\n007\tNA, None\n"))
    assert table.records == [{"id": "007", "zip, city": "NA, None"}]


FIELD = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@given(st.lists(st.tuples(FIELD, FIELD), max_size=8))
def test_csv_gives_back_what_was_written(rows: list[tuple[str, str]]) -> None:
    buffer = io.StringIO(newline="")
    csv.writer(buffer, quoting=csv.QUOTE_ALL).writerows([("a", "b"), *rows])
    with TemporaryDirectory() as folder:
        path = Path(folder, "x.csv")
        path.write_bytes(buffer.getvalue().encode())
        assert [(r["a"], r["b"]) for r in read_table(path).records] == rows


TEXT = st.text(st.characters(exclude_categories=["Cs"]))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)


@given(st.lists(st.fixed_dictionaries({"a": JSON, "b": JSON}), max_size=6))
def test_json_lines_give_back_what_was_written(rows: list[dict[str, Any]]) -> None:
    text = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    with TemporaryDirectory() as folder:
        path = Path(folder, "x.jsonl")
        path.write_bytes(text.encode())
        assert typed(read_table(path).records) == typed(rows)


ROWS = [{"q": "x", "n": 0, "list": ["a"], "m": None}, {"q": "", "n": -1, "list": [], "m": "NA"}]


def test_parquet(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    pq.write_table(pyarrow.Table.from_pylist(ROWS), tmp_path / "x.parquet")
    table = read_table(tmp_path / "x.parquet")
    assert table.records == ROWS
    assert table.origin.where(1).endswith("x.parquet, row 1")


@pytest.mark.parametrize("kind", ["new_stream", "new_file"])
def test_arrow(tmp_path: Path, kind: str) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.Table.from_pylist(ROWS)
    with getattr(pyarrow.ipc, kind)(str(tmp_path / "x.arrow"), table.schema) as sink:
        sink.write_table(table)
    assert read_table(tmp_path / "x.arrow").records == ROWS


@pytest.mark.parametrize("extension", ["parquet", "arrow"])
def test_broken_binary_files(write: Write, extension: str) -> None:
    with pytest.raises(DataError, match=f"x.{extension}: not readable"):
        read_table(write(f"x.{extension}", b"nothing of the kind"))


def test_unknown_ending(write: Write) -> None:
    with pytest.raises(DataError, match=r"no reader for \.txt\. Known: jsonl, json, csv"):
        read_table(write("x.txt", "hello"))
