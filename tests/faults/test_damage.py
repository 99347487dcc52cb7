"""Torn, empty and garbled files: all the rest is kept, and what is broken is named."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.faults.lab import Lab, numbers, wait_until

QUESTIONS = [f"say {n}" for n in range(12)]


def cut(path: Path) -> None:
    """As a copy that was broken off leaves a file."""
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 2 // 3])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def nulls(path: Path) -> None:
    """As a power cut may leave what was not yet on the disk."""
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2] + bytes(len(data) - len(data) // 2))


def garble(path: Path) -> None:
    data = bytearray(path.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 40] = bytes(range(0x80, 0x80 + 40))
    path.write_bytes(bytes(data))


def half_character(path: Path) -> None:
    line = '{"model": "m", "dataset": "quiz", "record": "é'.encode()
    path.write_bytes(path.read_bytes() + line[:-1])


DAMAGE = [cut, empty, nulls, garble, half_character]


def survives(
    lab: Lab, name: str, damage: Callable[[Path], None], reference: dict[str, str]
) -> None:
    """Damage a file of the only run, go on, and see that only what is lost is asked again."""
    (run,) = lab.runs
    file = run / name
    damage(file)
    kept = set(readable(file))
    done = lab.run("--reuse")
    assert done.status == 0, done.out
    assert sorted(lab.asked()) == sorted(set(QUESTIONS) - kept), damage
    assert numbers(run) == reference
    if file.suffix == ".jsonl" and damage is empty:
        return  # no line of it is broken
    assert f"{file}.damaged: " in done.line("damaged: ")
    assert file.with_name(f"{file.name}.damaged").exists()


def readable(file: Path) -> Iterator[str]:
    """Yield the prompts of the predictions whose lines are whole."""
    for line in file.read_bytes().split(b"\n"):
        try:
            if file.suffix == ".jsonl":
                yield json.loads(line)["record"]["origin_prompt"]
            else:
                (record,) = json.loads(b"{" + line.rstrip(b",") + b"}").values()
                yield record["origin_prompt"]
        except ValueError:
            continue


def test_damaged_journals_and_predictions(lab: Lab) -> None:
    lab.data([*QUESTIONS, "stall"])
    process = lab.start()
    wait_until(lambda: lab.kept() == len(QUESTIONS), "all but one")
    process.kill()
    lab.copy_runs("killed")
    lab.data(QUESTIONS)
    assert lab.run("--reuse").status == 0
    lab.copy_runs("done")
    reference = numbers(lab.runs[0])
    for damage in DAMAGE:
        lab.restore_runs("killed")
        survives(lab, "journal/predictions-main.jsonl", damage, reference)
    for damage in (cut, empty, garble):
        lab.restore_runs("done")
        survives(lab, "predictions/m/quiz.json", damage, reference)


def test_other_damaged_files_are_named(lab: Lab) -> None:
    lab.data(QUESTIONS)
    assert lab.run().status == 0
    lab.copy_runs("done")
    (run,) = lab.runs
    reference = numbers(run)
    result = run / "results/m/quiz.json"
    (config,) = run.glob("configs/config_*.json")

    empty(result)
    shown = lab.run("--mode=viz")
    assert shown.status == 4
    assert f"{result}: the results file can't be read" in shown.line("ERROR: ")
    assert lab.run("--reuse").status == 0
    assert numbers(run) == reference

    (last,) = set(run.glob("configs/config_*.json")) - {config}
    empty(last)
    done = lab.run("--reuse")
    assert done.status == 0
    assert str(last) in done.line("damaged: ")

    lab.restore_runs("done")
    empty(config)
    refused = lab.run("--reuse")
    assert refused.status == 4
    assert f"{config}: damaged" in refused.line("ERROR: ")
    garble(run / "configs/models/m.json")
    config.unlink()
    assert lab.run("--reuse").status == 0
    assert lab.asked() == []
    assert numbers(run) == reference
