"""No attack passes, nothing is left of any, in every kind of sandbox that this machine offers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_evalplug.evaluation.sandbox import kinds, runner
from tests.evaluation.sandbox.attacks import ATTACKS, KIND_MATTERS

ROOT = Path(__file__).resolve().parents[3]
NOBODY = 65534


@dataclass
class Outcome:
    verdicts: dict[str, tuple[str, str]]
    left: list[str]
    witness: dict[str, str]


def users() -> list[str]:
    return ["root", "nobody"] if os.geteuid() == 0 else ["this user"]


def outcome(kind: str, user: str, folder: Path) -> Outcome:
    """Run the attacks, of those that have nothing to do with the kind none but once."""
    whose = folder / f"{kind}-{user}"
    whose.mkdir()
    names = "all" if (kind, user) == (kinds.KINDS[1], users()[0]) else "kind matters"
    command = [
        os.path.realpath(sys.executable),
        "-m",
        "tests.evaluation.sandbox.run_attacks",
        kind,
        str(whose),
        names,
    ]
    if user == "nobody":
        os.chown(whose, NOBODY, NOBODY)
        command = as_nobody(command)
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join([str(ROOT), *kinds.site_packages()]),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    result = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300
    )
    assert result.returncode == 0, result.stderr[-2000:]
    return Outcome(**json.loads(result.stdout))


def as_nobody(command: list[str]) -> list[str]:
    """Run a command without root's rights, also where only root may read the interpreter."""
    if not shutil.which("unshare") or not shutil.which("setpriv"):
        pytest.skip("util-linux is not installed")
    moved = [command[0].replace(sys.base_prefix, "/mnt", 1), *command[1:]]
    drop = f"exec setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups"
    script = f'mount --bind {sys.base_prefix} /mnt && {drop} "$@"'
    return ["unshare", "--mount", "sh", "-c", script, "sh", *moved]


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder that other users may enter."""
    path = Path("/tmp") / f"evalplug-attacks-{os.getpid()}"
    path.mkdir(mode=0o755)
    yield path
    shutil.rmtree(path)


@pytest.mark.parametrize("user", users())
@pytest.mark.parametrize("kind", kinds.KINDS)
def test_no_attack_succeeds(kind: str, user: str, folder: Path) -> None:
    """One test, so that pytest-xdist has each kind and user attacked once."""
    if kind == "bwrap" and not shutil.which("bwrap"):
        pytest.skip("bubblewrap is not installed")
    problem = runner.problem_of(kind)
    if problem and user != "nobody":
        pytest.skip(f"{kind} does not work here: {problem}")
    came = outcome(kind, user, folder)
    assert len(came.verdicts) > 50
    assert [name for name, verdict in came.verdicts.items() if verdict[0] == "pass"] == ["harmless"]
    endless = {n: v[0] for n, v in came.verdicts.items() if n.startswith("endless-")}
    assert len(endless) > 4
    assert set(endless.values()) <= {"timeout", "error"}
    assert endless["endless-loop"] == endless["endless-ignore-signals"] == "timeout"
    assert came.left == []
    assert came.witness == {"kept": "kept"}


def test_every_attack_is_run_somewhere() -> None:
    assert set(ATTACKS) > KIND_MATTERS
    assert len(ATTACKS) > 110
