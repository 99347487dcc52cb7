"""A suite of benchmarks, a model server and runs, each in a process of its own to be killed."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.faults.server import asked
from tests.servers import free_port

ROOT = Path(__file__).parents[2]
PATIENCE = 120.0
"""Seconds until a test gives up what it waits for; only a fault that is not survived takes them."""
QUIZ = """
from pytest_evalplug import *

@register_benchmark(BenchmarkMeta(name="quiz", eval_cfg=dict(evaluator=dict(type="accuracy"))))
class Quiz(DefaultDataAdapter):
    def record_to_sample(self, record):
        return Sample(input=record["q"], target=record["a"])
"""
PYPROJECT = """
[tool.pytest.ini_options]
addopts = "-p no:randomly -p no:hypothesispytest -p no:anyio -p no:cacheprovider --data-dir=data"

[tool.evalplug.models.m]
backend = "openai"
model = "m"
base_url = "http://127.0.0.1:{port}/v1"
concurrency = 4
"""


class Zygote:
    """Starts processes: forks of one that has imported everything."""

    def __init__(self) -> None:
        env = {name: text for name, text in os.environ.items() if not name.startswith("EVALPLUG_")}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.zygote"],
            cwd=ROOT,
            env={**env, "OPENAI_API_KEY": "none"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def tell(self, **command: Any) -> Any:
        """Send a command and return the answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "the zygote has ended"
        return json.loads(line)

    def close(self) -> None:
        """End it; what it has started must have ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(10)
        self._process.stdout.close()


class Process:
    """A child of the zygote, alone in its process group."""

    def __init__(self, zygote: Zygote, **command: Any) -> None:
        self._zygote = zygote
        self.pid = int(zygote.tell(**command))
        self.status: int | None = None

    def ended(self, seconds: float = 0.0) -> bool:
        """Wait at most so long, and tell whether it has ended."""
        if self.status is None:
            self.status = self._zygote.tell(wait=self.pid, seconds=seconds)
        return self.status is not None

    def wait(self) -> int:
        """Return the exit status; negative for a signal."""
        assert self.ended(PATIENCE), "the process did not end"
        assert self.status is not None
        return self.status

    def kill(self) -> None:
        """SIGKILL to this process alone."""
        if not self.ended():
            os.kill(self.pid, signal.SIGKILL)
            self.wait()

    def send(self, number: signal.Signals) -> None:
        """Send a signal to this process alone."""
        os.kill(self.pid, number)

    def signal_group(self, number: signal.Signals) -> None:
        """What a terminal's Ctrl-C does, or a batch system."""
        os.killpg(self.pid, number)

    def kill_group(self) -> None:
        """SIGKILL to it and to all that it has started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        if self.status is None:
            self.wait()


@dataclass(frozen=True)
class Done:
    """How a run ended and what it printed."""

    status: int
    out: str

    def line(self, part: str) -> str:
        """Return the only line that holds ``part``."""
        found = [line for line in self.out.splitlines() if part in line]
        assert len(found) == 1, (part, self.out)
        return found[0]


class Lab:
    """A folder with a benchmark ``quiz``, its data, and a model server that can be killed."""

    def __init__(self, path: Path, zygote: Zygote) -> None:
        self.path = path
        self.zygote = zygote
        self.port = free_port()
        self.log = path / "asked.jsonl"
        self.out = path / "out.txt"
        self.started: list[Process] = []
        self.write("pyproject.toml", PYPROJECT.replace("{port}", str(self.port)))
        self.write("test_quiz.py", QUIZ)
        self.server = self.serve()

    def write(self, name: str, text: str) -> None:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def data(self, questions: list[str]) -> None:
        """Write the records; a question's last word is its answer, every fifth is another."""
        rows = [
            {"q": q, "a": "other" if n % 5 == 4 else q.split()[-1]} for n, q in enumerate(questions)
        ]
        self.write("data/quiz/test.jsonl", "".join(json.dumps(row) + "\n" for row in rows))

    def _start(self, kind: str, args: list[str], **options: Any) -> Process:
        process = Process(
            self.zygote,
            kind=kind,
            args=args,
            folder=str(self.path),
            output=str(self.out),
            **options,
        )
        self.started.append(process)
        return process

    def serve(self) -> Process:
        """Start the model server, again on the same port."""
        return self._start("server", [str(self.port), str(self.log)])

    def start(self, *args: str, model: str | None = "m", **fault: Any) -> Process:
        """Start a run and go on at once; without ``model`` a fixture has to give one."""
        self.out.unlink(missing_ok=True)
        named = [f"--model={model}"] if model else []
        return self._start("run", [*named, *args], fault=fault or None)

    def command(self, *args: str, **fault: Any) -> Process:
        """Start ``evalplug ...``."""
        self.out.unlink(missing_ok=True)
        return self._start("command", list(args), fault=fault or None)

    def run(self, *args: str, **fault: Any) -> Done:
        """Run to the end; whatever happens, an INTERNALERROR or a traceback is our bug."""
        return self.done(self.start(*args, **fault))

    def done(self, process: Process) -> Done:
        """Wait for the end of a run."""
        status = process.wait()
        out = self.out.read_text(encoding="utf-8", errors="replace")
        assert "INTERNALERROR" not in out, out
        assert "Traceback" not in out, out
        return Done(status, out)

    def asked(self) -> list[str]:
        """Return what the server has been asked, in order."""
        return asked(self.log)

    def forget_asked(self) -> None:
        """Begin to count anew."""
        os.truncate(self.log, 0)

    @property
    def runs(self) -> list[Path]:
        """The run directories."""
        folder = self.path / "outputs"
        return sorted(filter(Path.is_dir, folder.iterdir())) if folder.exists() else []

    def kept(self) -> int:
        """Return how many predictions are saved."""
        return sum(len(records(path)) for path in self.runs)

    def has_kept(self, enough: int, process: Process) -> bool:
        """Tell whether so many predictions are saved, or the process is over."""
        return process.ended() or self.kept() >= enough

    def has_asked(self, enough: int) -> bool:
        """Tell whether so many different prompts were asked."""
        return len(set(self.asked())) >= enough

    def copy_runs(self, name: str) -> None:
        """Keep the work dir as it is, where no run looks for tests."""
        shutil.copytree(self.path / "outputs", self._copy(name))

    def restore_runs(self, name: str) -> None:
        """Take up the work dir as it was, and count what is asked from now on."""
        shutil.rmtree(self.path / "outputs")
        shutil.copytree(self._copy(name), self.path / "outputs")
        self.forget_asked()

    def _copy(self, name: str) -> Path:
        return self.path.with_name(f"{self.path.name}-{name}")

    def reuse(self) -> list[str]:
        """Return what makes a run go on, if there is anything to go on with."""
        return ["--reuse"] if self.runs else []

    def close(self) -> None:
        """Kill all that still runs."""
        for process in self.started:
            process.kill_group()


def wait_until(condition: Callable[[], Any], what: str) -> None:
    """Poll until the condition holds."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"never: {what}"
        time.sleep(0.005)


def records(path: Path) -> dict[str, dict[str, Any]]:
    """Return index -> the predictions that a run directory holds, read without the package."""
    found: dict[str, dict[str, Any]] = {}
    for file in path.glob("predictions/*/*.json"):
        found.update(json.loads(file.read_text(encoding="utf-8")))
    for file in path.glob("journal/predictions-*.jsonl"):
        for record in _lines(file):
            found[record["index"]] = record
    return {index: record for index, record in found.items() if "prediction" in record}


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    for line in file.read_bytes().split(b"\n"):
        try:
            yield json.loads(line)["record"]
        except ValueError:
            continue


def numbers(path: Path) -> dict[str, str]:
    """Return name -> text of all that a finished run says, free of when and in which folder."""
    last = max(path.glob("summary/summary_*.json"), key=lambda file: file.stat().st_mtime_ns)
    files = [*path.glob("predictions/*/*.json"), *path.glob("results/*/*.json")]
    return {str(f.relative_to(path)): f.read_text(encoding="utf-8") for f in files} | {
        "summary": last.read_text(encoding="utf-8")
    }
