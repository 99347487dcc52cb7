"""A process that has imported everything and forks one child for each run, so that runs are cheap.

Reads one JSON command a line and answers each with one line. It never runs a thread, so that a
fork of it is whole.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from pytest_evalplug import cli
from tests.faults import injected, server

WARM_UP = """
import pytest
from pytest_evalplug import *

class Backend:
    name = "warm"
    capabilities = frozenset({"generate"})

    def generate(self, prompts, params):
        return list(prompts)

@pytest.fixture(scope="session")
def model_backend():
    return Backend()

@register_benchmark(BenchmarkMeta(name="warm", eval_cfg=dict(evaluator=dict(type="accuracy"))))
class Warm(DefaultDataAdapter):
    def record_to_sample(self, record):
        return Sample(input=record["q"], target=record["q"])
"""


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a run prints must not be taken for an answer
    _warm_up()
    for line in sys.stdin:
        command = json.loads(line)
        answer = _wait(**command) if "wait" in command else _fork(command)
        print(json.dumps(answer), file=answers, flush=True)


def _warm_up() -> None:
    """Run pytest once, which imports the most part of what a run needs."""
    import aiohttp  # noqa: F401
    import pytest
    import xdist.scheduler  # noqa: F401

    import pytest_evalplug.model.openai_api
    import pytest_evalplug.model.spec
    import pytest_evalplug.viz  # noqa: F401

    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "test_warm.py").write_text(WARM_UP)
        Path(folder, "warm").mkdir()
        Path(folder, "warm/test.jsonl").write_text('{"q": "1"}')
        plugins = ("-pno:cacheprovider", "-pno:randomly", "-pno:hypothesispytest", "-pno:anyio")
        folders = (f"--rootdir={folder}", f"--data-dir={folder}", f"--work-dir={folder}/o")
        status = pytest.main([*folders, *plugins, folder])
    assert status == 0, "the zygote can't run pytest"
    del sys.modules["test_warm"]
    assert threading.active_count() == 1, "a fork of a process with threads is half a process"


def _fork(command: dict[str, Any]) -> int:
    pid = os.fork()
    if not pid:
        status = 70
        try:
            status = _child(**command)
        finally:
            os._exit(status)
    return pid


def _child(
    kind: str, args: list[str], folder: str, output: str, fault: dict[str, Any] | None = None
) -> int:
    os.setpgid(0, 0)
    os.chdir(folder)
    handle = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    for stream in (1, 2):
        os.dup2(handle, stream)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if fault:
        injected.inject(**fault)
    if kind == "server":
        server.serve(*args)
        return 0
    if kind == "command":
        return cli.main(args)
    import pytest

    status = int(pytest.main(args))
    sys.stdout.flush()
    return status


def _wait(wait: int, seconds: float) -> int | None:
    """Return the child's exit status, negative for a signal; None if it still runs then."""
    deadline = time.monotonic() + seconds
    while True:
        ended, status = os.waitpid(wait, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > deadline:
            return None
        time.sleep(0.005)


if __name__ == "__main__":
    main()
