from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from pytest_evalplug.run.journal import JournalWriter, scan_journal

WRITER = """
import sys
from pathlib import Path
from pytest_evalplug.run.journal import JournalWriter
journal = JournalWriter(Path(sys.argv[1]))
for number in range(1_000_000):
    journal.append({"index": number, "prediction": "word " * 50})
    print(number, flush=True)
"""

FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from pytest_evalplug.errors import StorageError
from pytest_evalplug.run.journal import JournalWriter
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
journal = JournalWriter(Path(sys.argv[1]))
journal.append({"index": 0})
resource.setrlimit(resource.RLIMIT_FSIZE, (40, resource.RLIM_INFINITY))
try:
    journal.append({"index": 1, "prediction": "word " * 50})
except StorageError:
    print("refused")
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
journal.append({"index": 2})
"""


def read(path: Path) -> list[dict[str, Any]]:
    return [record for _, record in scan_journal(path)]


def test_records_come_back_in_order(tmp_path: Path) -> None:
    records = [{"index": 0, "text": "\u2028\x00\ud800\x1b"}, {"index": 1, "text": "a\nb\r"}]
    with JournalWriter(tmp_path / "new" / "journal.jsonl") as journal:
        offsets = [journal.append(record) for record in records]
        # readable while the writer still has it open
        assert list(scan_journal(journal.path)) == list(zip(offsets, records, strict=True))


def test_a_line_that_is_no_object_costs_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    deep = b"[" * 100_000
    path.write_bytes(
        b'\xef\xbb\xbf{"a": 1}\n[1]\n"text"\nnull\n' + deep + b'\n{"a": \xff}\n{"a": 2}\n'
    )
    assert read(path) == [{"a": 1}, {"a": 2}]


def test_broken_lines_are_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b'{"a": 1}\n{"a"\n\n{"a": 2}\n{"torn')
    read(path)
    assert [record.getMessage() for record in caplog.records] == [
        f"{path}: broken line at byte 9 skipped"
    ]


@pytest.mark.parametrize("torn", [b'{"index": 0}\n{"ind', b'{"index": 0}\n{"index": 1}', b"{"])
def test_a_new_writer_ends_the_half_line_of_a_killed_one(tmp_path: Path, torn: bytes) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(torn)
    before = read(path)
    with JournalWriter(path) as journal:
        journal.append({"index": 9})
    assert read(path) == [*before, {"index": 9}]


def test_kill_minus_nine_loses_nothing_that_had_arrived(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    with process.stdout as said:
        arrived = [int(said.readline()) for _ in range(200)]
        process.send_signal(getattr(signal, "SIGKILL", signal.SIGTERM))
        arrived += [int(line) for line in said if line.endswith("\n")]
    assert process.wait() != 0
    kept = [record["index"] for record in read(path)]
    assert kept[: len(arrived)] == arrived
    assert len(kept) <= len(arrived) + 1


@pytest.mark.skipif(os.name == "nt", reason="needs a limit on the file size")
def test_a_full_disk_costs_only_the_record_that_met_it(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(path)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "refused\n"
    assert read(path) == [{"index": 0}, {"index": 2}]
    assert b'"index": 1' in path.read_bytes()  # the write was cut, not refused as a whole


def test_threads_do_not_mix_their_lines(tmp_path: Path) -> None:
    with JournalWriter(tmp_path / "journal.jsonl") as journal:

        def write(thread: int) -> None:
            for number in range(100):
                journal.append({"index": f"{thread}.{number}", "text": "x" * 5000})

        threads = [threading.Thread(target=write, args=[number]) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    found = {record["index"] for record in read(journal.path)}
    assert found == {f"{thread}.{number}" for thread in range(4) for number in range(100)}


def test_closing_twice_is_fine(tmp_path: Path) -> None:
    with JournalWriter(tmp_path / "journal.jsonl") as journal:
        journal.close()
