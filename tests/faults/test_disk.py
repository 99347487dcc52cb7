"""A full disk and a read-only one: no request is paid for whose reply could not be kept."""

from __future__ import annotations

import os
import re
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.lab import Lab, numbers, records, wait_until
from tests.servers import free_port

QUESTIONS = [f"wait 0.01 {n}" for n in range(80)]


def check_full(lab: Lab, why: str, **fault: int) -> set[str]:
    """A run on a full disk asks no more than was on its way; return what is kept of it."""
    done = lab.run(**fault)
    assert done.status == 1
    asked = lab.asked()
    assert len(asked) < len(QUESTIONS)
    (path,) = lab.runs
    assert done.out.count("ERROR at setup") <= 1
    assert f"-main.jsonl: can't be written: {why}. Make room there" in done.line("! ")
    assert str(path / "journal") in done.line("! ")
    # what was received and could not be written still counts, and the numbers are shown
    assert re.search(r"accuracy \d\d\.\d\d over \d+ of 80 samples", done.line("quiz m: accuracy"))
    assert list(path.glob("journal/details-*.jsonl")), "verdicts that no result has"
    assert f"--reuse {path.name}" in done.line("stopped before its end")
    kept = {record["origin_prompt"] for record in records(path).values()}
    assert len(kept) >= len(asked) - 5  # what was in flight
    return kept


def check_goes_on(lab: Lab, kept: set[str]) -> None:
    """With room, it is as if nothing had been."""
    before = len(lab.asked())
    assert lab.run("--reuse").status == 0
    assert sorted(lab.asked()[before:]) == sorted(set(QUESTIONS) - kept)
    assert len(records(lab.runs[0])) == len(QUESTIONS)


def test_a_file_that_may_not_grow(lab: Lab) -> None:
    lab.data(QUESTIONS)
    kept = check_full(lab, "File too large", file_limit=9000)
    check_goes_on(lab, kept)
    assert numbers(lab.runs[0])


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 96 KiB, where one may be mounted."""
    folder = tmp_path / "outputs"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=96k", "tmpfs", str(folder)]
    if os.geteuid() or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("may not mount a file system here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk(small_disk: Path, lab: Lab) -> None:
    lab.data(QUESTIONS)
    ballast = small_disk / ".ballast"
    ballast.write_bytes(bytes(56 * 1024))
    kept = check_full(lab, "No space left on device")
    ballast.unlink()
    subprocess.run(["mount", "-o", "remount,size=4m", str(small_disk)], check=True)
    check_goes_on(lab, kept)


def test_a_work_dir_that_is_not_writable(lab: Lab) -> None:
    lab.data(QUESTIONS[:3])
    (lab.path / "closed").mkdir(mode=0o555)
    for args in ((), ("-n2",)):
        refused = lab.run("--work-dir=closed", *args, mortal=True)
        assert refused.status == 4
        assert "closed: Permission denied. Choose a folder" in refused.line("ERROR: ")
    assert lab.asked() == []


def test_readers_of_a_run_that_is_not_writable(lab: Lab) -> None:
    lab.data(QUESTIONS[:3])
    assert lab.run().status == 0
    (path,) = lab.runs
    lab.forget_asked()
    folders = [path, *(file for file in path.rglob("*") if file.is_dir())]
    for file in path.rglob("*"):
        file.chmod(0o555 if file.is_dir() else 0o444)
    path.chmod(0o555)
    for stage in ("--reuse", "--mode=eval"):
        refused = lab.run(stage, mortal=True)
        assert refused.status == 4
        assert f"can't write to the run {path}: Permission denied" in refused.line("ERROR: ")
    shown = lab.run("--mode=viz", mortal=True)
    assert shown.status == 0
    assert "100.00" in shown.line("quiz ")
    compared = lab.done(lab.command("compare", path.name, path.name, mortal=True))
    assert compared.status == 0
    assert "quiz" in compared.out
    port = free_port()
    viewer = lab.command("view", "--no-browser", f"--port={port}", mortal=True)
    wait_until(lambda: lab.out.exists() and f":{port}/" in lab.out.read_text(), "it listens")
    url = f"http://127.0.0.1:{port}/api/runs/{path.name}"
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url) as reply:
        assert b"quiz" in reply.read()
    viewer.kill()
    for folder in folders:
        folder.chmod(0o755)
    assert lab.asked() == []
