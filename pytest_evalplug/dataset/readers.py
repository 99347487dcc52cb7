"""Read one local file into records: values as written, broken rows refused with their line.

JSON and CSV are read here rather than by ``datasets``, whose readers guess (seen with 5.2): the
CSV texts ``007`` and ``NA`` become 7 and null, a JSON text like ``2021-01-01`` becomes a datetime.
They also take two seconds to import and don't name the line of a broken row.
"""

from __future__ import annotations

__all__ = ["EXTENSIONS", "read_table"]

import csv
import io
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from pytest_evalplug.dataset.table import Record, Table
from pytest_evalplug.errors import DataError

_JSON_SPACE = " \t\r\n"


def read_table(path: Path) -> Table:
    """Return the records of a ``.jsonl``, ``.json``, ``.csv``, ``.tsv``, ``.parquet``, ``.arrow``.

    A column that a record lacks is ``None`` there. CSV values are texts, JSON values keep their
    types. Raises DataError with file and line for what can't be read as a whole.
    """
    read = _READERS.get(path.suffix.lower().lstrip("."))
    if read is None:
        raise DataError(
            f"no reader for {path.suffix or 'a file without an ending'}",
            where=str(path),
            fix=f"Known: {', '.join(EXTENSIONS)}",
        )
    return read(path)


def _read_jsonl(path: Path) -> Table:
    return _parse_jsonl(path, _read_text(path))


def _parse_jsonl(path: Path, text: str) -> Table:
    records: list[Record] = []
    lines: list[int] = []
    decode = json.JSONDecoder().raw_decode  # a third faster than json.loads
    for number, line in enumerate(_lines(text), start=1):
        line = line.strip(_JSON_SPACE)
        if not line:
            continue
        try:
            record, end = decode(line)
        except (ValueError, RecursionError) as error:
            raise _broken(path, number, f"not a JSON value: {error}") from None
        if end != len(line):
            raise _broken(path, number, "something follows the JSON value")
        if type(record) is not dict:
            raise _broken(path, number, f"a JSON object is needed, not {_kind(record)}")
        records.append(record)
        lines.append(number)
    plain = bool(lines) and lines[-1] == len(lines)  # no blank lines: nothing to remember
    return Table(_fill_columns(records), str(path), range(1, len(lines) + 1) if plain else lines)


def _lines(text: str) -> Iterator[str]:
    """Yield the lines one by one, so that they are not all there twice.

    Only a line feed ends one, as U+2028 and its like are part of a text.
    """
    start = 0
    while (end := text.find("\n", start)) >= 0:
        yield text[start:end]
        start = end + 1
    yield text[start:]


def _read_json(path: Path) -> Table:
    text = _read_text(path)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        if isinstance(error, json.JSONDecodeError) and error.msg == "Extra data":
            return _parse_jsonl(path, text)  # JSON lines by another name
        raise _broken(path, getattr(error, "lineno", 1), f"not JSON: {error}") from None
    if isinstance(value, dict):
        # a table below one key, beside a version or a licence
        tables = [v for v in value.values() if isinstance(v, list) and v and type(v[0]) is dict]
        value = tables[0] if len(tables) == 1 else value
    if not isinstance(value, list):
        raise _broken(path, 1, f"a list of objects is needed, not {_kind(value)}")
    for row, record in enumerate(value):
        if not isinstance(record, dict):
            raise DataError(
                f"a JSON object is needed, not {_kind(record)}", where=f"{path}, row {row}"
            )
    return Table(_fill_columns(value), str(path))


def _read_csv(path: Path, delimiter: str = ",") -> Table:
    # a whole article is a legitimate field; the limit is global to the csv module
    old_limit = csv.field_size_limit(sys.maxsize)
    try:
        rows = _csv_rows(path, delimiter)
    finally:
        csv.field_size_limit(old_limit)
    if not rows:
        return Table([], str(path), [])
    (_, header), *body = rows
    twice = {name for name in header if header.count(name) > 1}
    if twice:
        raise _broken(path, 1, f"the column {min(twice)!r} stands twice in the header")
    records = []
    for line, values in body:
        if len(values) != len(header):
            raise _broken(path, line, f"{len(values)} fields, but the header has {len(header)}")
        records.append(dict(zip(header, values, strict=True)))
    return Table(records, str(path), [line for line, _ in body])


def _csv_rows(path: Path, delimiter: str) -> list[tuple[int, list[str]]]:
    """Return (first line, fields) of each row that is not blank."""
    reader = csv.reader(io.StringIO(_read_text(path), newline=""), delimiter=delimiter, strict=True)
    rows = []
    line = 1
    try:
        for values in reader:
            if values:
                rows.append((line, values))
            line = reader.line_num + 1
    except csv.Error as error:
        raise _broken(path, line, f"not readable as CSV: {error}") from None
    return rows


def _read_tsv(path: Path) -> Table:
    return _read_csv(path, "\t")


def _read_parquet(path: Path) -> Table:
    import pyarrow.parquet  # type: ignore[import-untyped]

    return _from_arrow(path, lambda: pyarrow.parquet.read_table(path))


def _read_arrow(path: Path) -> Table:
    import pyarrow

    def read() -> Any:
        with pyarrow.memory_map(str(path)) as source:
            try:
                return pyarrow.ipc.open_stream(source).read_all()
            except pyarrow.ArrowInvalid:
                return pyarrow.ipc.open_file(source).read_all()

    return _from_arrow(path, read)


def _from_arrow(path: Path, read: Callable[[], Any]) -> Table:
    import pyarrow

    try:
        records: list[Record] = read().to_pylist()
    except (pyarrow.ArrowException, OSError) as error:
        raise DataError(f"not readable: {error}", where=str(path)) from None
    return Table(records, str(path))


_READERS: dict[str, Callable[[Path], Table]] = {
    "jsonl": _read_jsonl,
    "json": _read_json,
    "csv": _read_csv,
    "tsv": _read_tsv,
    "parquet": _read_parquet,
    "arrow": _read_arrow,
}
EXTENSIONS = tuple(_READERS)


def _read_text(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DataError(f"not readable: {error.strerror}", where=str(path)) from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _broken(path, line, "not UTF-8", "Convert the file to UTF-8.") from None


def _fill_columns(records: list[Record]) -> list[Record]:
    """Give each record every column of the table, ``None`` where it lacks one."""
    if not records:
        return records
    first = records[0].keys()
    if all(record.keys() == first for record in records):
        return records
    columns = _union(record.keys() for record in records)
    return [{name: record.get(name) for name in columns} for record in records]


def _union(groups: Iterable[Iterable[str]]) -> list[str]:
    return list(dict.fromkeys(name for group in groups for name in group))


def _kind(value: object) -> str:
    names = {
        dict: "an object",
        list: "a list",
        str: "a text",
        bool: "a truth value",
        type(None): "null",
    }
    return names.get(type(value), "a number")


def _broken(path: Path, line: int, what: str, fix: str = "Mend or remove the row.") -> DataError:
    return DataError(what, where=f"{path}:{line}", fix=fix)
