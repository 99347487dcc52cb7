"""No attack passes, nothing is left of any, in every kind of sandbox that this machine offers."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

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


@cache
def outcome(kind: str, user: str, folder: Path) -> Outcome:
    """Run the attacks once for all tests; those that have nothing to do with the kind only once."""
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


def where() -> Iterator[Any]:
    """Yield kinds and users; xdist gives all tests of one to one worker, which attacks once."""
    for kind, user in itertools.product(kinds.KINDS, users()):
        name = f"{kind}-{user}"
        yield pytest.param((kind, user), id=name, marks=pytest.mark.xdist_group(name))


@pytest.fixture(params=where(), scope="module")
def attacked(request: pytest.FixtureRequest, folder: Path) -> Outcome:
    kind, user = request.param
    if kind == "bwrap" and not shutil.which("bwrap"):
        pytest.skip("bubblewrap is not installed")
    problem = runner.problem_of(kind)
    if problem and user != "nobody":
        pytest.skip(f"{kind} does not work here: {problem}")
    return outcome(kind, user, folder)


def test_no_attack_passes(attacked: Outcome) -> None:
    passed = {name: v for name, v in attacked.verdicts.items() if v[0] == "pass"}
    assert list(passed) == ["harmless"]
    assert len(attacked.verdicts) > 50


def test_endless_programs_are_stopped_at_the_limit(attacked: Outcome) -> None:
    endless = {n: v for n, v in attacked.verdicts.items() if n.startswith("endless-")}
    assert len(endless) > 4
    assert {v[0] for v in endless.values()} <= {"timeout", "error"}
    assert endless["endless-loop"][0] == endless["endless-ignore-signals"][0] == "timeout"


def test_nothing_is_left(attacked: Outcome) -> None:
    assert attacked.left == []


def test_nothing_outside_has_changed(attacked: Outcome) -> None:
    assert attacked.witness == {"kept": "kept"}


def test_every_attack_is_run_somewhere() -> None:
    assert set(ATTACKS) > KIND_MATTERS
    assert len(ATTACKS) > 110
