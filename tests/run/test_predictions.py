from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from pytest_evalplug.errors import StorageError
from pytest_evalplug.run.directory import RunDirectory
from pytest_evalplug.run.jsonio import digest, dumps
from pytest_evalplug.run.predictions import PredictionKey

from .conftest import Predictions

NASTY = "a\u2028b\x00c\x1b[31md\ud800e\n"

WRITER = """
import sys
from pathlib import Path
from pytest_evalplug.run.directory import RunDirectory
from pytest_evalplug.run.predictions import PredictionStore
store = PredictionStore(RunDirectory.open(Path(sys.argv[1]), "latest"), "main")
for number in range(1_000_000):
    store.put("m", "d", {"index": str(number), "prediction": "word " * 50})
    print(number, flush=True)
"""


def key(temperature: float = 0.0, **parts: Any) -> PredictionKey:
    defaults = {"model": "m", "prompt": "2+2?", "params": {"temperature": temperature}, "sample": 1}
    return PredictionKey(**{name: digest(part) for name, part in {**defaults, **parts}.items()})


def record(index: str, prediction: Any = "4", **more: Any) -> dict[str, Any]:
    return {
        "index": index,
        "sample_id": f"d-{index}",
        "subset": "default",
        "origin_prompt": [{"role": "user", "content": "2+2?"}],
        "prediction": prediction,
        "gold": 0,
        "key": key().to_wire(),
        **more,
    }


def error(index: str, why: str = "server down") -> dict[str, Any]:
    failed = record(index, error=why)
    del failed["prediction"]
    return failed


def saved(run: RunDirectory, model: str = "m", dataset: str = "d") -> dict[str, Any]:
    content: dict[str, Any] = json.loads(run.prediction_file(model, dataset).read_bytes())
    return content


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({}, []),
        ({"params": {"temperature": 0.7}}, ["generation parameters"]),
        ({"prompt": "2 + 2?"}, ["prompt"]),
        ({"prompt": [{"role": "user", "content": "2+2?"}]}, ["prompt"]),
        ({"model": "n"}, ["model"]),
        ({"sample": 2}, ["sample"]),
        ({"sample": "1", "model": None}, ["model", "sample"]),
    ],
)
def test_a_key_says_what_changed(change: dict[str, Any], named: list[str]) -> None:
    assert key(**change).differs(key().to_wire()) == named


def test_a_key_comes_back_from_a_record() -> None:
    assert key().differs(json.loads(dumps(key().to_wire()))) == []


@pytest.mark.parametrize("wire", [None, "no key", {}, {"model": 1}])
def test_a_record_without_a_key_matches_nothing(wire: Any) -> None:
    assert key().differs(wire) == [*("model", "prompt", "generation parameters", "sample")]


def test_a_changed_temperature_is_seen_after_a_merge(
    run: RunDirectory, predictions: Predictions
) -> None:
    predictions().put("m", "d", record("0"))
    predictions().merge()
    found = predictions().get("m", "d", "0")
    assert found is not None
    assert key(0.7).differs(found["key"]) == ["generation parameters"]
    assert key().differs(found["key"]) == []


@pytest.mark.parametrize("merged", [False, True])
@pytest.mark.parametrize("prediction", ["4", "", "0", NASTY, ["a", "b"], "x" * 1_000_000])
def test_a_prediction_comes_back(
    run: RunDirectory, predictions: Predictions, prediction: Any, merged: bool
) -> None:
    store = predictions("gw0")
    store.put("m", "d", record("12.1", prediction))
    if merged:
        store.merge()
    for reader in (store, predictions("main")):
        assert reader.get("m", "d", "12.1") == record("12.1", prediction)
        assert reader.get("m", "d", "12") is None


@pytest.mark.parametrize("gold", [0, False, "", None, [], "\ud800"])
def test_a_falsy_gold_comes_back(run: RunDirectory, predictions: Predictions, gold: Any) -> None:
    store = predictions()
    store.put("m", "d", record("0", gold=gold))
    store.merge()
    assert saved(run)["0"]["gold"] == gold
    assert type(saved(run)["0"]["gold"]) is type(gold)


def test_the_merged_file_is_as_documented(run: RunDirectory, predictions: Predictions) -> None:
    for worker, indices in (("gw0", ["10", "2"]), ("gw1", ["1", "2.1"])):
        store = predictions(worker)
        for index in indices:
            store.put("m", "d", record(index, NASTY))
        store.close()
    written = predictions().merge()
    assert written == [run.path / "predictions/m/d.json"]
    assert list(saved(run)) == ["1", "2", "2.1", "10"]
    assert saved(run)["2"] == record("2", NASTY)
    assert len(written[0].read_text(encoding="utf-8").splitlines()) == 6  # one a line, two braces
    assert list(run.journal.iterdir()) == []


def test_merging_again_adds_and_replaces(run: RunDirectory, predictions: Predictions) -> None:
    store = predictions()
    store.put("m", "d", record("0", "old"))
    store.put("m", "d", record("1", "kept"))
    store.merge()
    store.put("m", "d", record("0", "new"))
    store.put("m", "d", record("2"))
    assert store.get("m", "d", "0") == record("0", "new")
    store.merge()
    assert {index: r["prediction"] for index, r in saved(run).items()} == {
        **{"0": "new", "1": "kept", "2": "4"}
    }
    assert store.merge() == []


def test_an_error_is_kept_but_never_served(run: RunDirectory, predictions: Predictions) -> None:
    store = predictions()
    store.put("m", "d", error("0"))
    for merged in (False, True):
        assert store.get("m", "d", "0") is None, merged
        assert store.lookup("m", "d", "0") == error("0")
        store.merge()
    assert saved(run)["0"]["error"] == "server down"
    store.put("m", "d", record("0"))
    assert store.get("m", "d", "0") == record("0")


@pytest.mark.parametrize("merged", [False, True])
def test_an_error_does_not_cost_the_prediction_before_it(
    run: RunDirectory, predictions: Predictions, merged: bool
) -> None:
    store = predictions()
    store.put("m", "d", record("0"))
    if merged:
        store.merge()
    store.put("m", "d", error("0"))
    assert store.get("m", "d", "0") == record("0")
    store.merge()
    assert saved(run) == {"0": record("0")}


def test_a_later_error_replaces_an_error(run: RunDirectory, predictions: Predictions) -> None:
    store = predictions()
    store.put("m", "d", error("0", "timeout"))
    store.merge()
    store.put("m", "d", error("0", "refused"))
    assert store.records("m", "d")["0"]["error"] == "refused"


def test_records_are_all_of_a_dataset_in_order(run: RunDirectory, predictions: Predictions) -> None:
    store = predictions()
    store.put("m", "d", record("10"))
    store.merge()
    store.put("m", "d", record("9"))
    store.put("m", "other", record("1"))
    assert store.records("m", "d") == {"9": record("9"), "10": record("10")}
    assert list(store.records("m", "d")) == ["9", "10"]
    assert store.records("m", "absent") == {}


def test_two_models_share_a_work_dir(run: RunDirectory, predictions: Predictions) -> None:
    store = predictions()
    models = ["qwen", "org/qwen", "org_qwen", "../qwen", "x" * 300]
    for model in models:
        store.put(model, "../d", record("0", model))
    assert len(set(store.merge())) == len(models)
    assert {m: predictions().get(m, "../d", "0") for m in models} == {
        m: record("0", m) for m in models
    }
    assert [path.name for path in run.path.parent.iterdir()] == [run.name]


def test_other_processes_are_seen_after_a_refresh(
    run: RunDirectory, predictions: Predictions
) -> None:
    reader, writer = predictions("gw1"), predictions("gw0")
    assert reader.get("m", "d", "0") is None
    writer.put("m", "d", record("0"))
    reader.refresh()
    assert reader.get("m", "d", "0") == record("0")


def test_a_merge_takes_what_came_after_the_last_look(
    run: RunDirectory, predictions: Predictions
) -> None:
    controller = predictions()
    assert controller.get("m", "d", "0") is None
    predictions("gw0").put("m", "d", record("0"))
    controller.merge()
    assert saved(run) == {"0": record("0")}


@pytest.mark.parametrize("content", [b'{"0": {"predic', b"[]", b'{"0": 1}', b"\xff", b"", bytes(9)])
def test_a_damaged_file_is_said_and_kept_beside(
    run: RunDirectory, predictions: Predictions, content: bytes
) -> None:
    path = run.prediction_file("m", "d")
    path.parent.mkdir(parents=True)
    predictions().put("m", "d", record("1"))
    path.write_bytes(content)
    store = predictions()
    store.merge()
    (said,) = store.broken
    assert said.startswith(f"{path}.damaged: the prediction file can't be read: ")
    assert path.with_name("d.json.damaged").read_bytes() == content
    assert saved(run) == {"1": record("1")}


def test_of_a_torn_file_all_whole_lines_are_kept(
    run: RunDirectory, predictions: Predictions
) -> None:
    store = predictions()
    for index in "012":
        store.put("m", "d", record(index))
    (path,) = store.merge()
    path.write_bytes(path.read_bytes()[:-20])
    store = predictions()
    assert list(store.records("m", "d")) == ["0", "1"]
    store.put("m", "d", record("2", prediction="again"))
    store.merge()
    assert saved(run) == {
        "0": record("0"), "1": record("1"), "2": record("2", prediction="again")
    }  # fmt: skip
    assert len(store.broken) == 1
    store.merge()
    assert len(list(path.parent.iterdir())) == 2


def test_journals_stay_if_a_merge_fails_midway(
    run: RunDirectory, predictions: Predictions, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = predictions()
    store.put("m", "a", record("0"))
    store.put("m", "b", record("0"))
    run.prediction_file("m", "b").mkdir(parents=True)  # can't be replaced by a file
    with pytest.raises(StorageError, match="b"):
        store.merge()
    run.prediction_file("m", "b").rmdir()
    predictions().merge()
    assert saved(run, dataset="a") == saved(run, dataset="b") == {"0": record("0")}


def test_a_killed_run_goes_on(tmp_path: Path, predictions: Predictions) -> None:
    RunDirectory.create(tmp_path).close()
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    with process.stdout as said:
        arrived = [said.readline().strip() for _ in range(100)]
        process.send_signal(getattr(signal, "SIGKILL", signal.SIGTERM))
    process.wait()
    with RunDirectory.open(tmp_path, "latest") as run:
        predictions(run=run).merge()
        store = predictions(run=run)
        assert all(store.get("m", "d", index) for index in arrived)
        assert list(run.journal.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="measures memory with the resource module")
def test_a_hundred_thousand_records(run: RunDirectory, predictions: Predictions) -> None:
    import resource

    line = dumps(
        {"model": "m", "dataset": "d", "time": 1.0, "record": record("NUMBER", "word " * 100)}
    )
    lines = (line.replace("NUMBER", str(number)) for number in range(100_000))
    (run.journal / "predictions-gw0.jsonl").write_text("\n".join(lines))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()
    predictions().merge()
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert predictions().get("m", "d", "99999") == record("99999", "word " * 100)
    assert time.process_time() - started < 20  # seconds; about 6 on two slow cores
    assert grown < 100  # MiB; the journal has 80
