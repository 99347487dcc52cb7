"""What the scripts here share: commands run in turn, their seconds and memory, and tables."""

from __future__ import annotations

__all__ = [
    "Measured",
    "data_dir",
    "gsm8k",
    "gsm8k_server",
    "in_turn",
    "medians",
    "run",
    "seen",
    "show",
    "write_lines",
]

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any
from urllib.request import urlopen


@dataclass(frozen=True)
class Measured:
    """One run of a command: seconds, and megabytes of its largest process at its peak."""

    wall: float
    cpu: float
    peak: float
    output: str
    status: int = 0


def run(
    command: Sequence[str | Path], cwd: Path, env: Mapping[str, str] | None = None, status: int = 0
) -> Measured:
    """Run ``command`` to its end, its children included in the figures.

    Exits with the command's output if it ends with another exit status than ``status``.
    """
    with tempfile.TemporaryFile() as output:
        begin = time.perf_counter()
        process = subprocess.Popen(
            [str(part) for part in command],
            cwd=cwd,
            env={**_environment(), **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        _, wait_status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(wait_status)
        output.seek(0)
        text = output.read().decode(errors="replace")
    if process.returncode != status:
        sys.exit(f"{text}\n{command[0]} ended with {process.returncode}")
    peak = usage.ru_maxrss / 1000  # Linux gives kB
    return Measured(wall, usage.ru_utime + usage.ru_stime, peak, text, process.returncode)


def _environment() -> dict[str, str]:
    """Return the environment without what would have each run compile its modules anew."""
    return {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def in_turn(
    commands: Mapping[str, Callable[[], Measured]], rounds: int
) -> dict[str, list[Measured]]:
    """Run all commands ``rounds`` times, one after another, so that each meets the same weather."""
    taken: dict[str, list[Measured]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            taken[name].append(command())
            print(f"  {name}: {taken[name][-1].wall:.2f} s", file=sys.stderr)
    return taken


def medians(taken: Iterable[Measured]) -> Measured:
    """Return the median of each figure, and the last output."""
    runs = list(taken)
    wall, cpu, peak = (median(getattr(r, name) for r in runs) for name in ("wall", "cpu", "peak"))
    return Measured(wall, cpu, peak, runs[-1].output)


def show(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a table as Markdown, below its title and what it was measured on."""
    load = os.getloadavg()[0]
    print(f"\n{title}")
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, load {load:.1f}\n")
    print(f"| {' | '.join(columns)} |")
    print("|" + "---|" * len(columns))
    for row in rows:
        cells = [*map(str, row), *[""] * (len(columns) - len(row))]
        print(f"| {' | '.join(cells)} |")
    sys.stdout.flush()


def data_dir() -> Path:
    """Return the folder of real data: ``EVALPLUG_DATA_DIR``, or where the tests look; or exit."""
    folder = Path(os.environ.get("EVALPLUG_DATA_DIR", "../shared/data")).resolve()
    if not folder.is_dir():
        sys.exit(f"{folder} is no folder; EVALPLUG_DATA_DIR must name one with the data sets")
    return folder


def gsm8k() -> list[dict[str, str]]:
    """Return the test split's rows (question, answer), and behind them those of train."""
    folder = data_dir() / "gsm8k"
    files = [folder / "test.jsonl", folder / "train.jsonl"]
    # By "\n" alone: a question may hold other characters that end a line for Python.
    lines = [line for file in files for line in file.read_text("utf-8").split("\n") if line]
    return [json.loads(line) for line in lines]


def write_lines(file: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write ``rows`` as JSON lines, in a folder made for them."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


@contextmanager
def gsm8k_server(milliseconds: float) -> Iterator[str]:
    """Start :mod:`perf.server` and yield its base URL."""
    command = [sys.executable, "-m", "perf.server", str(milliseconds)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        finally:
            process.terminate()


def seen(url: str) -> tuple[float, list[dict[str, Any]]]:
    """Return what a server saw since the last call.

    That is the seconds from the first request to the last reply, and the requests' bodies.
    """
    root = url.removesuffix("/v1")
    with urlopen(f"{root}/bodies") as reply:
        bodies = [json.loads(line) for line in reply.read().split(b"\n") if line]
    with urlopen(f"{root}/times") as reply:
        times = json.load(reply)
    return times["last"] - times["first"], bodies
