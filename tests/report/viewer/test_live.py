from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_evalplug.report.viewer.live import LiveRun
from pytest_evalplug.report.viewer.runs import Runs
from pytest_evalplug.run.details import DetailStore
from pytest_evalplug.run.directory import RunDirectory
from pytest_evalplug.run.jsonio import dumps, write_atomic
from pytest_evalplug.run.predictions import PredictionStore
from pytest_evalplug.stash import MANIFEST
from pytest_evalplug.types import Detail
from pytest_evalplug.wire import Manifest, Part
from tests.report.viewer.runs import Given, make_run, unpacked


@pytest.fixture
def run(tmp_path: Path) -> Iterator[RunDirectory]:
    """A run that goes on: two datasets of 4 samples, one model not known yet."""
    with RunDirectory.create(tmp_path) as run:
        indices = [str(i) for i in range(4)]
        parts = [
            Part("quiz", subset, f"quiz-{subset}", None, "v", ["easy", "hard"], indices, indices, 4)
            for subset in ("easy", "hard")
        ]
        Manifest(parts).write(run.journal / MANIFEST)
        yield run


def put(run: RunDirectory, worker: str, *given: Given, start: int = 0) -> None:
    """Journal samples as a worker does."""
    predictions, details = PredictionStore(run, worker), DetailStore(run, worker)
    for i, sample in enumerate(given, start):
        predictions.put("m", "quiz-easy", sample.record(i, "easy"))
        details.put("m", "quiz-easy", sample.detail(i, "easy"))
    predictions.close()
    details.close()


def test_nothing_is_done_at_first(run: RunDirectory) -> None:
    live = LiveRun(run.path)
    live.refresh()
    progress = live.progress()
    assert (progress["total"], progress["done"], progress["rate"]) == (8, 0, None)
    assert [part["model"] for part in progress["parts"]] == ["model", "model"]


def test_what_workers_append_is_counted_once(run: RunDirectory) -> None:
    live = LiveRun(run.path)
    put(run, "gw0", Given("0"), Given("1", correct=False))
    live.refresh()
    put(run, "gw1", Given("2", error="down"), start=2)
    for _ in range(2):
        live.refresh()
    easy, hard = live.progress()["parts"]
    wanted = {"total": 4, "done": 3, "predicted": 3, "right": 1, "wrong": 1, "errors": 1}
    assert {name: easy[name] for name in wanted} == wanted
    assert (hard["model"], hard["done"]) == ("m", 0)
    assert live.progress()["left"] == pytest.approx(5 / live.progress()["rate"])


def test_a_line_half_written_is_read_when_it_is_whole(run: RunDirectory) -> None:
    live = LiveRun(run.path)
    put(run, "gw0", Given("0"))
    path = run.journal / "details-gw0.jsonl"
    whole = path.read_text()
    detail = Given("1", correct=False).detail(1, "easy").to_wire()
    line = json.dumps({"model": "m", "dataset": "quiz-easy", "time": 1.0, "record": detail})
    path.write_text(whole + line[:40])
    live.refresh()
    assert live.progress()["done"] == 1
    path.write_text(whole + line + "\n")
    live.refresh()
    assert live.progress()["done"] == 2


@pytest.mark.parametrize("line", ["{}", '{"record": 3, "time": 1}', "[]", "nonsense"])
def test_lines_that_are_not_ours_are_passed_over(run: RunDirectory, line: str) -> None:
    (run.journal / "details-gw0.jsonl").write_text(line + "\n")
    live = LiveRun(run.path)
    live.refresh()
    assert live.progress()["done"] == 0


def test_its_samples_can_be_read(run: RunDirectory) -> None:
    put(run, "gw0", *(Given(str(i)) for i in range(4)))
    live = LiveRun(run.path)
    live.refresh()
    assert live.tables() == [("m", "quiz-easy"), ("m", "quiz-hard")]
    result = live.result("m", "quiz-easy")
    assert result is not None
    assert (result.num_scored, result.num_correct, result.metrics) == (4, 4, {})
    assert isinstance(result.details, list)
    assert isinstance(result.details[0], Detail)
    assert live.records("m", "quiz-easy")["3"]["prediction"] == "It is 4."
    assert live.result("m", "other") is None


def test_a_run_is_running_while_it_is_locked(run: RunDirectory, tmp_path: Path) -> None:
    put(run, "gw0", Given("0"))
    runs = Runs(tmp_path)
    assert runs.run(run.name)["state"] == "running"
    assert runs.run(run.name)["live"]["done"] == 1
    first = runs.block(run.name, "t0", "index")
    put(run, "gw1", Given("1"), start=1)
    assert runs.run(run.name)["live"]["done"] == 2
    assert runs.block(run.name, "t0", "index") != first
    run.close()
    assert runs.run(run.name)["state"] == "stopped"
    assert RunDirectory.in_use(run.path) is False


def predict(run: RunDirectory) -> None:
    """Journal predictions alone, as ``--mode infer`` does."""
    write_atomic(run.configs / "models" / "m.json", dumps({"name": "m"}))
    store = PredictionStore(run)
    for i in range(4):
        store.put("m", "quiz-easy", Given(str(i)).record(i, "easy"))
    store.close()


def test_predictions_without_verdicts_are_shown(run: RunDirectory, tmp_path: Path) -> None:
    predict(run)
    runs = Runs(tmp_path)
    assert runs.run(run.name)["state"] == "running"
    assert json.loads(unpacked(runs.block(run.name, "t0", "index")))["outcomes"] == "nnnn"
    PredictionStore(run).merge()
    run.close()
    about = runs.run(run.name)
    assert (about["state"], about["models"], "live" in about) == ("finished", ["m"], False)
    assert [row["dataset"] for row in about["rows"]][:2] == ["quiz-easy", "quiz-hard"]
    assert json.loads(unpacked(runs.block(run.name, "t0", "index")))["outcomes"] == "nnnn"
    [sample, *_] = json.loads(unpacked(runs.block(run.name, "t0", "0")))
    assert sample["record"]["prediction"] == "It is 4."


def test_a_run_whose_summarizer_failed_shows_its_results(tmp_path: Path) -> None:
    run = make_run(tmp_path, {("m", "main"): [Given("a")]})
    Manifest([Part("quiz", "main", "quiz", None, "v", ["main"], ["0"], ["a"], 1)]).write(
        run.journal / MANIFEST
    )
    for path in run.summary.iterdir():
        path.unlink()
    about = Runs(tmp_path).run(run.name)
    assert about["state"] == "finished"
    assert about["rows"][0]["scores"]["m"]["value"] == 100


def test_a_run_killed_before_its_first_reply_was_stopped(run: RunDirectory, tmp_path: Path) -> None:
    run.close()
    assert Runs(tmp_path).run(run.name)["state"] == "stopped"
