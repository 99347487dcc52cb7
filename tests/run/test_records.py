from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalplug.errors import StorageError
from pytest_evalplug.run.directory import RunDirectory
from pytest_evalplug.run.records import RecordLog, _pack, _unpack, index_order

from .conftest import Logs


def read(log: RecordLog, index: str, model: str = "m", dataset: str = "d") -> Any:
    found = log.find(model, dataset, index)
    return None if found is None else json.loads(found.text)


def clock(monkeypatch: pytest.MonkeyPatch, now: float) -> None:
    monkeypatch.setattr("pytest_evalplug.run.records.time.time", lambda: now)


def test_every_process_sees_every_record(run: RunDirectory, logs: Logs) -> None:
    for number, worker in enumerate(["gw0", "gw1"]):
        logs("k", worker).append("m", "d", {"index": str(number)})
    reader = logs("k", "main")
    assert reader.indices("m", "d") == ["0", "1"]
    assert reader.tables() == [("m", "d")]
    assert read(reader, "1") == {"index": "1"}
    assert reader.find("m", "other", "1") is None
    assert logs("other", "gw0").tables() == []


def test_refresh_finds_what_came_since(run: RunDirectory, logs: Logs) -> None:
    reader, writer = logs("k", "main"), logs("k", "gw0")
    writer.append("m", "d", {"index": "0"})
    assert reader.indices("m", "d") == ["0"]
    writer.append("m", "d", {"index": "1", "x": 1})
    assert read(reader, "1") is None
    reader.refresh()
    assert read(reader, "1") == {"index": "1", "x": 1}


def test_a_line_half_written_at_one_look_is_found_at_the_next(
    run: RunDirectory, logs: Logs
) -> None:
    line = {"model": "m", "dataset": "d", "time": 1.0, "record": {"index": "0", "x": "é"}}
    first = json.dumps(line).encode() + b"\n"
    second = first.replace(b'"0"', b'"1"')
    path = run.journal / "k-gw0.jsonl"
    reader = logs("k", "main")
    for end in range(len(first) + 5, len(first + second) - 1, 7):
        path.write_bytes((first + second)[:end])
        reader.refresh()
        assert reader.indices("m", "d") == ["0"]
    path.write_bytes(first + second)
    reader.refresh()
    assert reader.indices("m", "d") == ["0", "1"]


@pytest.mark.parametrize(("old", "new"), [("gw0", "gw1"), ("gw1", "gw0")])
def test_the_later_record_counts_in_whatever_file_it_is(
    run: RunDirectory, logs: Logs, monkeypatch: pytest.MonkeyPatch, old: str, new: str
) -> None:
    for now, worker in ((1.0, old), (2.0, new)):
        clock(monkeypatch, now)
        logs("k", worker).append("m", "d", {"index": "5", "by": worker})
    assert read(logs("k", "main"), "5")["by"] == new


def test_of_one_moment_the_later_line_counts(
    run: RunDirectory, logs: Logs, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock(monkeypatch, 1.0)
    log = logs("k", "main")
    log.append("m", "d", {"index": "5", "x": "old"})
    log.append("m", "d", {"index": "5", "x": "new"})
    assert read(log, "5")["x"] == read(logs("k", "reader"), "5")["x"] == "new"


def test_models_and_datasets_are_kept_apart(run: RunDirectory, logs: Logs) -> None:
    log = logs("k", "main")
    names = ["m", '", "record": {', "a/b", "a_b", "\ud800", ""]
    for model in names:
        for dataset in names:
            log.append(model, dataset, {"index": "0", "is": [model, dataset]})
    reader = logs("k", "reader")
    assert len(reader.tables()) == len(names) ** 2
    for model in names:
        for dataset in names:
            assert read(reader, "0", model, dataset) == {"index": "0", "is": [model, dataset]}


@pytest.mark.parametrize(
    "line",
    [
        {},
        {"model": "m", "dataset": "d", "time": 1, "record": None},
        {"model": "m", "dataset": "d", "time": 1, "record": {}},
        {"model": "m", "dataset": "d", "time": None, "record": {"index": "0"}},
        {"model": [], "dataset": "d", "time": 1, "record": {"index": "0"}},
    ],
)
def test_a_foreign_line_costs_only_itself(
    run: RunDirectory, logs: Logs, line: dict[str, Any]
) -> None:
    (run.journal / "k-x.jsonl").write_text(json.dumps(line) + "\n")
    log = logs("k", "main")
    log.append("m", "d", {"index": "1"})
    assert log.indices("m", "d") == ["1"]


def test_a_record_may_hold_a_record(run: RunDirectory, logs: Logs) -> None:
    nested = {"index": "0", "gold": {"index": "1", "record": {"index": "2", "record": {}}}}
    log = logs("k", "main")
    log.append("m", "d", nested)
    assert read(log, "0") == nested


def test_a_closed_log_goes_on(run: RunDirectory, logs: Logs) -> None:
    log = logs("k", "main")
    log.append("m", "d", {"index": "0"})
    assert read(log, "0") == {"index": "0"}
    log.close()
    log.append("m", "d", {"index": "1"})
    assert read(log, "0") == {"index": "0"}
    assert read(log, "1") == {"index": "1"}


def test_remove_takes_the_journals_of_one_kind(run: RunDirectory, logs: Logs) -> None:
    for kind in ("k", "other"):
        for worker in ("gw0", "main"):
            logs(kind, worker).append("m", "d", {"index": "0"})
    log = logs("k", "main")
    log.append("m", "d", {"index": "1"})
    log.remove()
    assert log.tables() == []
    assert {path.name for path in run.journal.iterdir()} == {"other-gw0.jsonl", "other-main.jsonl"}
    log.append("m", "d", {"index": "2"})
    assert logs("k", "x").indices("m", "d") == ["2"]


def test_what_can_not_be_removed_is_found_again(
    run: RunDirectory, logs: Logs, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, theirs = logs("details", "a"), logs("details", "b")
    mine.append("m", "d", {"index": "1"})
    theirs.append("m", "d", {"index": "2"})
    real = Path.unlink

    def refuse(self: Path, missing_ok: bool = False) -> None:
        if self.name == "details-b.jsonl":
            raise OSError(errno.EROFS, "Read-only file system")
        real(self, missing_ok)

    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(StorageError, match=r"details-b\.jsonl: can't be written: Read-only"):
        mine.remove()
    assert mine.indices("m", "d") == ["2"]
    monkeypatch.undo()
    mine.remove()
    assert mine.indices("m", "d") == []


def test_a_worker_name_cannot_leave_the_journal(
    run: RunDirectory, logs: Logs, tmp_path: Path
) -> None:
    logs("k", "../../gw0").append("m", "d", {"index": "0"})
    assert len(list(run.journal.iterdir())) == 1


def test_indices_are_in_the_order_of_numbers() -> None:
    expected = ["0", "2", "2.1", "2.10", "10", "110"]
    assert sorted(sorted(expected), key=index_order) == expected


@given(st.lists(st.text("0123456789.²ab", max_size=5)))
def test_any_indices_can_be_sorted(indices: list[str]) -> None:
    ordered = sorted(indices, key=index_order)
    assert sorted(ordered) == sorted(indices)


@given(
    first=st.tuples(st.integers(0, 1), st.integers(0, 8 * 10**9), st.integers(0, 999)),
    second=st.tuples(st.integers(0, 1), st.integers(0, 8 * 10**9), st.integers(0, 999)),
    offset=st.integers(0, 2**40),
)
def test_a_place_is_one_number_in_the_order_of_what_counts(
    first: tuple[int, int, int], second: tuple[int, int, int], offset: int
) -> None:
    places = [_pack(*rank, offset) for rank in (first, second)]
    assert [_unpack(place) for place in places] == [(r[0], r[2], offset) for r in (first, second)]
    assert (places[0] < places[1]) == (first < second)


@pytest.mark.parametrize("when", [-1.0, float("inf"), 1e300])
def test_a_time_that_is_none_breaks_nothing(logs: Logs, when: float) -> None:
    log = logs("details", "main")
    log.append("m", "d", {"index": "0", "x": 1})
    log._keep({"model": "m", "dataset": "d", "time": when, "record": {"index": "1"}}, log._own, 0)
    assert read(log, "0")["x"] == 1
