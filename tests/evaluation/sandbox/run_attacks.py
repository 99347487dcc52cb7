"""Run all attacks in one kind of sandbox, as whatever user this is; print what came of each.

    python run_attacks.py KIND FOLDER

``FOLDER`` belongs to this user. Prints a JSON object: ``verdicts`` (name -> status, reason),
``left`` (processes that outlived their sandbox) and ``witness`` (the files of the folder).
"""  # fmt: skip

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
import time
from pathlib import Path
from string import Template

from attacks import ATTACKS, HARMLESS

from pytest_evalplug.evaluation.sandbox import Verdict, run_program


def main(kind: str, folder: Path) -> None:
    key, mark = "sk-1234567890", f"evil{os.getpid()}"
    os.environ["OPENAI_API_KEY"] = key
    secret, witness = folder / "secret", folder / "witness"
    secret.write_text(key)
    secret.chmod(0o600)
    witness.mkdir()
    (witness / "kept").write_text("kept")
    with socket.create_server(("127.0.0.1", 0)) as server:
        words = dict(
            SECRET=secret, WITNESS=witness, KEY=key, MARK=mark,
            PID=os.getpid(), PORT=server.getsockname()[1],
        )  # fmt: skip
        start = time.monotonic()
        verdicts = asyncio.run(attack_all(kind, words))
        seconds = time.monotonic() - start
    left = [name for name in map(_name, os.listdir("/proc")) if name in (mark, "sleep 98761")]
    files = {path.name: path.read_text() for path in witness.iterdir()}
    print(json.dumps(dict(verdicts=verdicts, left=left, witness=files, seconds=seconds)))


async def attack_all(kind: str, words: dict[str, object]) -> dict[str, tuple[str, str]]:
    async def attack(program: str, test: str) -> Verdict:
        program, test = (Template(text).safe_substitute(words) for text in (program, test))
        return await run_program(program, test, timeout=2.0, kind=kind)

    names = [*ATTACKS, "harmless"]
    verdicts = await asyncio.gather(*(attack(*pair) for pair in [*ATTACKS.values(), HARMLESS]))
    return {n: (v.status, v.reason) for n, v in zip(names, verdicts, strict=True)}


def _name(pid: str) -> str:
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
        return (
            command if command == "sleep 98761" else Path(f"/proc/{pid}/comm").read_text().strip()
        )
    except OSError:
        return ""


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
