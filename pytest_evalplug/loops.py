"""Event loops in threads of their own, which other people's code can't end."""

from __future__ import annotations

__all__ = ["keep_running"]

import asyncio


def keep_running(loop: asyncio.AbstractEventLoop) -> None:
    """Run ``loop`` until it is stopped.

    A task that raises SystemExit or KeyboardInterrupt ends a loop, and so hangs all who wait for
    its other tasks. The error is that task's, who awaits it gets it: here the loop goes on.
    """
    while True:
        try:
            loop.run_forever()
        except (SystemExit, KeyboardInterrupt):
            continue
        return
