from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import filelock
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalplug.errors import ConfigError
from pytest_evalplug.run.directory import RunDirectory, safe_name

HOLDER = """
import sys
from pathlib import Path
from pytest_evalplug.run.directory import RunDirectory
run = RunDirectory.open(Path(sys.argv[1]), "latest")
print("locked", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("name", ["gsm8k", "mmlu-high_school", "Qwen2.5-0.5B", "_x", "a" * 100])
def test_an_ordinary_name_stays(name: str) -> None:
    assert safe_name(name) == name


UNSAFE = [
    *("", ".", "..", "../../etc/passwd", "/etc", "a/b", "a\\b", "C:", ".hidden", "-rf", "a:b"),
    *("a\nb", "a b", "模型", "a\x00b", "\ud800", ".tmp-a", "a" * 101, "x" * 10_000),
    "looks-0123456789",  # as if it had been changed
]


@pytest.mark.parametrize("name", UNSAFE, ids=range(len(UNSAFE)))
def test_any_other_name_is_made_safe(name: str, tmp_path: Path) -> None:
    safe = safe_name(name)
    assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]*", safe)
    path = tmp_path / f"predictions-{safe}.jsonl"
    path.write_text("a real file system takes it")
    assert os.listdir(tmp_path) == [path.name]


def test_readable_part_of_a_changed_name_stays() -> None:
    assert re.fullmatch("org_model-[0-9a-f]{10}", safe_name("org/model"))


@given(st.lists(st.text(st.characters(exclude_categories=()), max_size=8), unique=True))
def test_different_names_stay_different(names: list[str]) -> None:
    assert len({safe_name(name) for name in names}) == len(names)


def test_a_changed_name_is_never_what_another_text_is_called() -> None:
    changed = safe_name("a/b")
    assert safe_name(changed) != changed


def test_runs_within_one_second_are_different_and_in_order(tmp_path: Path) -> None:
    runs = [RunDirectory.create(tmp_path) for _ in range(12)]
    assert len({run.path for run in runs}) == 12
    assert RunDirectory.find(tmp_path, "latest") == runs[-1].path
    for run in runs:
        assert RunDirectory.find(tmp_path, run.name) == run.path
        run.close()


def test_latest_sorts_numbers_as_numbers(tmp_path: Path) -> None:
    for name in ["20260101_000000", "20260101_000000-2", "20260101_000000-10", "notes", "latest"]:
        (tmp_path / name).mkdir()
    (tmp_path / "20270101_000000").write_text("a file is no run")
    assert RunDirectory.find(tmp_path, "latest").name == "20260101_000000-10"


def test_layout(run: RunDirectory) -> None:
    assert {str(p.relative_to(run.path)) for p in run.path.rglob("*") if p.is_dir()} == {
        *("configs", "logs", "logs/infer", "logs/eval", "journal", "summary")
    }
    assert run.infer_logs.is_dir()
    assert run.eval_logs.is_dir()
    assert run.prediction_file("m", "d") == run.path / "predictions/m/d.json"
    assert run.result_file("m", "d") == run.path / "results/m/d.json"


def test_names_cannot_leave_the_run(run: RunDirectory) -> None:
    for path in (run.prediction_file("../..", "../../x"), run.result_file("/etc", "..")):
        assert run.path.resolve() in path.resolve().parents


@pytest.mark.parametrize("which", ["20260101", "latests", "..", "", "../outputs", "benchmarks/"])
def test_an_unknown_run_names_both_forms_and_the_nearest(tmp_path: Path, which: str) -> None:
    for name in ("20260101_101010", "20260102_101010"):
        (tmp_path / name).mkdir()
    with pytest.raises(ConfigError) as caught:
        RunDirectory.open(tmp_path, which)
    text = str(caught.value)
    assert "\n" not in text
    assert text.startswith(f"--reuse: no run {which!r} in {tmp_path}")
    assert "'latest'" in text
    assert "YYYYMMDD_HHMMSS" in text
    assert "20260101_101010" in text


def test_no_runs_at_all(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="There are no runs"):
        RunDirectory.open(tmp_path / "absent", "latest")


def test_a_second_controller_is_refused_until_the_first_has_ended(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path)
    with pytest.raises(ConfigError, match="another process is working in the run"):
        RunDirectory.open(tmp_path, run.name)
    RunDirectory.attach(run.path).close()  # a worker neither needs the lock nor frees it
    with pytest.raises(ConfigError, match="another process"):
        RunDirectory.open(tmp_path, "latest")
    run.close()
    run.close()
    RunDirectory.open(tmp_path, "latest").close()


def test_a_second_live_process_is_refused_and_a_killed_one_is_not_in_the_way(
    tmp_path: Path,
) -> None:
    RunDirectory.create(tmp_path).close()
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdin is not None
    assert holder.stdout is not None
    with holder.stdin, holder.stdout:
        assert holder.stdout.readline() == "locked\n"
        with pytest.raises(ConfigError, match="Wait until it has ended"):
            RunDirectory.open(tmp_path, "latest")
        holder.kill()
        holder.wait()
    RunDirectory.open(tmp_path, "latest").close()


def test_a_work_dir_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(
        ConfigError, match=r"^--work-dir: can't make a run directory in .*file"
    ) as e:
        RunDirectory.create(tmp_path / "file" / "outputs")
    assert "\n" not in str(e.value)


def test_a_file_system_without_locks_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: filelock.FileLock, timeout: float) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(filelock.FileLock, "acquire", refuse)
    with pytest.raises(ConfigError, match=r"No locks available.*has no file locks"):
        RunDirectory.create(tmp_path)


def test_a_look_whether_it_is_in_use_is_not_in_the_way(tmp_path: Path) -> None:
    """The viewer looks into a run that workers have begun, just when their controller adopts it."""
    RunDirectory.join(tmp_path, "gw0").close()
    look = filelock.FileLock(tmp_path / ".lock", thread_local=False)
    look.acquire()
    threading.Timer(0.05, look.release).start()
    RunDirectory.adopt(tmp_path).close()
