from __future__ import annotations

import subprocess
import sys
import threading

from pytest_evalplug.inference.threads import DaemonThreads


def test_threads_are_used_again_and_bounded() -> None:
    pool = DaemonThreads(2, "t")
    together = threading.Barrier(2)

    def work(_: int) -> int:
        together.wait(10)
        return threading.get_ident()

    found = [pool.submit(work, n) for n in range(6)]
    assert len({future.result(10) for future in found}) == 2
    pool.shutdown()


def test_one_after_another_needs_one_thread() -> None:
    pool = DaemonThreads(8, "t")
    first = pool.submit(threading.get_ident).result(10)
    assert isinstance(first, int)
    error = pool.submit(int, "x").exception(10)
    assert isinstance(error, ValueError)
    pool.shutdown()


def test_what_hangs_does_not_keep_the_process_alive() -> None:
    code = (
        "import time; from pytest_evalplug.inference.threads import DaemonThreads; "
        "pool = DaemonThreads(1, 't'); pool.submit(time.sleep, 600); pool.shutdown(); print('end')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=True)
    assert done.stdout.split() == [b"end"]
