"""Ctrl-C and SIGTERM, once and twice, to a whole process group as a terminal sends them."""

from __future__ import annotations

import json
import signal

import pytest

from tests.faults.lab import Lab, records, wait_until

GIVEN = """
import pytest
from pytest_evalplug.model.spec import resolve_model
from pytest_evalplug.options import model_tables

@pytest.fixture(scope="session")
def model_backend(request):
    return resolve_model("m", model_tables(request.config)).create()
"""
"""A model that no option names: the workers begin the run, and their controller takes it over."""


@pytest.mark.parametrize(
    ("args", "number"),
    [((), signal.SIGINT), ((), signal.SIGTERM), (("-n2",), signal.SIGINT)],
    ids=["int", "term", "n2-int"],
)
def test_once_finishes_what_is_in_flight(
    lab: Lab, args: tuple[str, ...], number: signal.Signals
) -> None:
    questions = [f"say {n}" for n in range(8)] + [f"wait 1.5 {n}" for n in range(8, 40)]
    lab.data(questions)
    process = lab.start(*args)
    wait_until(lambda: lab.kept() >= 8 and len(lab.asked()) >= 10, "slow requests")
    process.signal_group(number)
    done = lab.done(process)
    assert done.status == 2
    asked = lab.asked()
    assert len(asked) <= 8 + 4 + 8, "asked after Ctrl-C"  # 4 at a time, and it was not seen at once
    (path,) = lab.runs
    assert {record["origin_prompt"] for record in records(path).values()} == set(asked)
    about = json.loads((path / "results/m/quiz.json").read_text())["run"]
    assert about["partial"] is True
    assert about["num_samples"] == 40
    assert list(path.glob("summary/summary_*.json"))
    assert f"--reuse {path.name}" in done.line("stopped before its end")

    lab.write("data/quiz/test.jsonl", "")
    lab.data([q.replace("1.5", "0.0") if q not in asked else q for q in questions])
    assert lab.run("--reuse").status == 0
    assert len(lab.asked()) == 40


@pytest.mark.parametrize("args", [(), ("-n2",)], ids=["plain", "n2"])
def test_twice_stops_now(lab: Lab, args: tuple[str, ...]) -> None:
    """However long the server takes, and those in flight are given time after one Ctrl-C."""
    lab.data([f"say {n}" for n in range(8)] + ["stall"] * 20)
    process = lab.start(*args)
    wait_until(lambda: lab.kept() >= 8 and lab.asked().count("stall") >= 4, "stalled requests")
    process.signal_group(signal.SIGINT)
    (path,) = lab.runs
    log = path / "logs/infer/main.log"
    wait_until(
        lambda: (
            (path / "journal/.stop").exists() or (log.exists() and "stopping" in log.read_text())
        ),
        "the first is seen",
    )
    assert not process.ended()
    process.signal_group(signal.SIGINT)
    done = lab.done(process)
    assert done.status == 2
    assert "evaluation summary" not in done.out
    assert f"--reuse {lab.runs[0].name}" in done.line("stopped before its end")
    assert lab.kept() == 8
    assert len(lab.asked()) == 12


@pytest.mark.parametrize("model", ["m", None], ids=["named", "fixture"])
def test_a_signal_to_the_controller_alone_reaches_its_workers(lab: Lab, model: str | None) -> None:
    if model is None:
        lab.write("conftest.py", GIVEN)
    lab.data([f"wait 1.0 {n}" for n in range(60)])
    process = lab.start("-n2", model=model)
    wait_until(lambda: len(lab.asked()) >= 4, "requests")
    process.send(signal.SIGTERM)
    assert lab.done(process).status == 2
    assert len(lab.asked()) < 30
    assert lab.kept() == len(lab.asked())
