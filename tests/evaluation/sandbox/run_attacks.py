"""Run all attacks in one kind of sandbox, as whatever user this is; print what came of each.

    python -m tests.evaluation.sandbox.run_attacks KIND FOLDER [all]

``FOLDER`` belongs to this user. Prints a JSON object: ``verdicts`` (name -> status, reason),
``left`` (processes that outlived their sandbox) and ``witness`` (the files of the folder).
"""  # fmt: skip

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
from pathlib import Path
from string import Template

from pytest_evalplug.evaluation.sandbox import Verdict, run_program
from tests.evaluation.sandbox.attacks import ATTACKS, HARMLESS, KIND_MATTERS


def main(kind: str, folder: Path, which: str) -> None:
    key, mark, nap = "sk-1234567890", f"evil{os.getpid()}", f"sleep 9{os.getpid()}"
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
        names = [name for name in ATTACKS if which == "all" or name in KIND_MATTERS]
        verdicts = asyncio.run(attack_all(kind, names, words))
    # names of this run's own: another may attack at the same time
    left = [n for pid in os.listdir("/proc") for n in _names(pid) if n in (mark, nap)]
    files = {path.name: path.read_text() for path in witness.iterdir()}
    print(json.dumps(dict(verdicts=verdicts, left=left, witness=files)))


async def attack_all(
    kind: str, names: list[str], words: dict[str, object]
) -> dict[str, tuple[str, str]]:
    async def attack(program: str, test: str) -> Verdict:
        program, test = (Template(text).safe_substitute(words) for text in (program, test))
        return await run_program(program, test, timeout=1.0, kind=kind)

    attacks = {**{name: ATTACKS[name] for name in names}, "harmless": HARMLESS}
    verdicts = await asyncio.gather(*(attack(*pair) for pair in attacks.values()))
    return {n: (v.status, v.reason) for n, v in zip(attacks, verdicts, strict=True)}


def _names(pid: str) -> list[str]:
    """Return a process's command and the name it gave itself."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
        return [command, Path(f"/proc/{pid}/comm").read_text().strip()]
    except OSError:
        return []


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
