"""The tools that we are measured beside, and ours, each in an environment of its own.

    python -m perf.peers                     which are there
    python -m perf.peers install [NAME...]   make their environments (some gigabytes)

Ours is called ``evalplug``: this working tree, without what its tests need. They lie in
``EVALPLUG_PEERS`` (default ``~/.cache/pytest-evalplug/peers``), one folder each;
``EVALPLUG_LM_EVAL`` and the like name the Python of another environment for one.
"""

from __future__ import annotations

__all__ = ["PEERS", "executable", "missing", "own_python", "peer_python"]

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Peer:
    """How a peer is installed: each step is one call of pip."""

    command: str
    steps: tuple[tuple[str, ...], ...]
    python: str = sys.executable
    """OpenCompass pins packages that have no wheels for newer Pythons."""


OWN = "evalplug"
_ROOT = str(Path(__file__).parents[1])
_TORCH = ("torch==2.13.0",)
PEERS = {
    # EvalScope 1.14 starts a process for each comparison of two numbers: 126 s for what takes
    # 1.13 some 20.
    "evalscope": Peer("evalscope", (_TORCH, ("evalscope==1.13.0",))),
    "lm-eval": Peer("lm_eval", (_TORCH, ("lm-eval[api,hf]==0.4.13", "transformers==5.24.0"))),
    "inspect": Peer("inspect", (("inspect-ai==0.3.285", "openai==3.57.0"),)),
    "opencompass": Peer("opencompass", (_TORCH, ("opencompass==0.5.4",)), python="python3.10"),
}


def folder(name: str) -> Path:
    """Return where the peer's environment is, or would be."""
    if own := os.environ.get(f"EVALPLUG_{name.upper().replace('-', '_')}"):
        return Path(own).expanduser().parents[1]
    root = os.environ.get("EVALPLUG_PEERS", "~/.cache/pytest-evalplug/peers")
    return Path(root).expanduser() / name


def executable(name: str) -> Path | None:
    """Return the path of the peer's command, or None where it isn't installed."""
    path = folder(name).absolute() / "bin" / PEERS[name].command
    return path if path.exists() else None


def missing(name: str) -> str:
    """Say how to get a peer that isn't there."""
    return f"{name} is left out; to have it: python -m perf.peers install {name}"


def peer_python(name: str) -> Path:
    """Return the Python of a peer's environment, or exit."""
    if executable(name) is None:
        sys.exit(missing(name))
    return folder(name).absolute() / "bin" / "python"


def own_python() -> Path:
    """Return the Python of our own environment; this one's where there is none."""
    path = folder(OWN).absolute() / "bin" / "python"
    return path if path.exists() else Path(sys.executable)


def install(name: str) -> None:
    peer = Peer("pytest", (("--editable", _ROOT),)) if name == OWN else PEERS[name]
    subprocess.run([peer.python, "-m", "venv", folder(name)], check=True)
    for step in peer.steps:
        subprocess.run([folder(name) / "bin" / "pip", "install", *step], check=True)


def main(arguments: Sequence[str]) -> None:
    if arguments[:1] == ["install"]:
        for name in arguments[1:] or (OWN, *PEERS):
            install(name)
    print(own_python())
    for name in PEERS:
        print(executable(name) or missing(name))


if __name__ == "__main__":
    main(sys.argv[1:])
