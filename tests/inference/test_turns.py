from __future__ import annotations

import sys
import threading

import pytest

from pytest_evalplug.inference.turns import Turns


@pytest.mark.skipif(sys.platform == "win32", reason="the default loop there has no selector")
def test_others_wait_while_the_loop_works() -> None:
    turns = Turns()
    loop = turns.new_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    working, go = threading.Event(), threading.Event()

    def work() -> None:
        working.set()
        go.wait(30)

    try:
        loop.call_soon_threadsafe(work)
        assert working.wait(30)
        assert not turns.let_engine(0.01)  # patience has an end
        go.set()
        assert turns.let_engine(30)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def test_nobody_waits_for_a_loop_that_does_not_run() -> None:
    assert Turns().let_engine(0)
