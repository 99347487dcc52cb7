"""A model server that notes each prompt on the disk at once, so that no kill loses a count."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

from tests.servers import Action, Call, OpenAIServer, delay, stall


def serve(port: str, log: str) -> None:
    """Answer as the prompts say, on ``port``, until this process is killed.

    ``say X`` is answered with X, ``wait S X`` with X after S seconds, ``stall`` never.
    """
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)

    def script(call: Call) -> Action | str:
        os.write(handle, json.dumps(call.prompt).encode() + b"\n")
        verb, _, rest = call.prompt.splitlines()[-1].partition(" ")
        if verb == "wait":
            seconds, _, text = rest.partition(" ")
            return delay(float(seconds), text)
        return stall() if verb == "stall" else rest

    server = OpenAIServer(int(port))
    server.script = script
    with server:
        signal.pause()


def asked(log: Path) -> list[str]:
    """Return the prompts that have been asked so far, in order."""
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
