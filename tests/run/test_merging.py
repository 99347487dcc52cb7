"""Shards' files become one run's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_evalplug.errors import ConfigError, DataError
from pytest_evalplug.run.directory import RunDirectory
from pytest_evalplug.run.jsonio import dumps, json_object, write_atomic
from pytest_evalplug.run.merging import Shard, find_shards, join_shards
from pytest_evalplug.run.predictions import PredictionStore
from pytest_evalplug.run.snapshot import read_snapshot, write_snapshot

MODEL = {"name": "m", "fingerprint": "f", "settings": "s"}


def shard(folder: Path, number: int, count: int = 2, **settings: Any) -> Shard:
    run = RunDirectory.create(folder / f"{number}")
    run.close()
    model = settings.pop("model", MODEL)
    snapshot = {"shard": [number, count], "eval_mode": "gen", "limit": None, **settings}
    write_snapshot(run, snapshot)
    write_atomic(run.configs / "models" / "m.json", dumps(model))
    return Shard(run.path)


def predict(shard: Shard, **records: dict[str, Any]) -> None:
    texts = [(index.removeprefix("i"), dumps(record)) for index, record in records.items()]
    path = RunDirectory.attach(shard.path).prediction_file("m", "d")
    write_atomic(path, json_object(texts))


def joined(tmp_path: Path, *shards: Shard) -> RunDirectory:
    run = RunDirectory.create(tmp_path / "merged")
    run.close()
    join_shards(shards, run, ["merge"])
    return run


def test_records_are_united_in_order(tmp_path: Path) -> None:
    one, two = shard(tmp_path, 1), shard(tmp_path, 2)
    predict(one, i2={"prediction": "\u2028 b"}, i10={"prediction": "c"})
    predict(two, i1={"prediction": "a"}, i11={"error": "down"})
    run = joined(tmp_path, one, two)
    text = run.prediction_file("m", "d").read_text(encoding="utf-8")
    assert list(json.loads(text)) == ["1", "2", "10", "11"]
    assert r'"2": {"prediction": "\u2028 b"},' in text
    assert PredictionStore(run).get("m", "d", "2") == {"prediction": "\u2028 b"}
    assert json.loads((run.configs / "models" / "m.json").read_text()) == MODEL
    snapshot = read_snapshot(run)
    assert snapshot["shard"] is None
    assert [part["shard"] for part in snapshot["merged"]] == [[1, 2], [2, 2]]


def test_the_same_reply_twice_is_one(tmp_path: Path) -> None:
    one, two = shard(tmp_path, 1), shard(tmp_path, 2)
    predict(one, i1={"prediction": "a", "time": 1}, i2={"error": "down"})
    predict(two, i1={"prediction": "a", "time": 2}, i2={"prediction": "b"})
    run = joined(tmp_path, one, two)
    assert PredictionStore(run).get("m", "d", "2") == {"prediction": "b"}


@pytest.mark.parametrize("other", [{"prediction": "b"}, {"prediction": "a", "key": {"model": "n"}}])
def test_different_replies_are_refused(tmp_path: Path, other: dict[str, Any]) -> None:
    one, two = shard(tmp_path, 1), shard(tmp_path, 2)
    predict(one, i1={"prediction": "a", "key": {"model": "m"}})
    predict(two, i1={"key": {"model": "m"}, **other})
    with pytest.raises(ConfigError, match=r"sample 1 has different replies\. Leave one"):
        joined(tmp_path, one, two)


def test_a_judge_may_have_been_asked_twice(tmp_path: Path) -> None:
    parts = [shard(tmp_path, 1), shard(tmp_path, 2)]
    for part in parts:
        file = RunDirectory.attach(part.path).judgement_file("j", "d")
        write_atomic(file, json_object([("h", dumps({"prediction": f"reply {part.place[0]}"}))]))
    run = joined(tmp_path, *parts)
    assert "reply 1" in run.judgement_file("j", "d").read_text()


def test_journals_are_kept_apart(tmp_path: Path) -> None:
    one, two = shard(tmp_path, 1), shard(tmp_path, 2)
    for part in (one, two):
        store = PredictionStore(RunDirectory.attach(part.path))
        store.put("m", "d", {"index": str(part.place[0]), "prediction": "x"})
        store.close()
    run = joined(tmp_path, one, two)
    PredictionStore(run).merge()
    assert list(json.loads(run.prediction_file("m", "d").read_text())) == ["1", "2"]
    assert len(list((one.path / "journal").glob("predictions-*"))) == 1


def test_folders_that_hold_shards(tmp_path: Path) -> None:
    two, one = shard(tmp_path, 2), shard(tmp_path, 1)
    for folders in ([tmp_path / "2", one.path, tmp_path / "1"], [tmp_path]):
        assert [part.path for part in find_shards(folders)] == [one.path, two.path]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"limit": 5}, r"different settings: --limit was null and 5"),
        ({"judge": {"a": {}}}, r"--judge-model was null and \{"),
        ({"count": 3}, r"different splits, 1/2 and 2/3"),
        ({"model": {**MODEL, "fingerprint": "g"}}, r"different models of the name 'm'"),
    ],
)
def test_what_does_not_belong_together(
    tmp_path: Path, settings: dict[str, Any], message: str
) -> None:
    parts = [shard(tmp_path, 1), shard(tmp_path, 2, **settings)]
    with pytest.raises(ConfigError, match=message):
        find_shards([part.path for part in parts])


def test_another_server_is_the_same_model(tmp_path: Path) -> None:
    parts = [shard(tmp_path, 1), shard(tmp_path, 2, model={**MODEL, "settings": "t"})]
    assert len(find_shards([part.path for part in parts])) == 2


def test_what_is_no_shard(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no run directory"):
        find_shards([tmp_path])
    with pytest.raises(DataError, match="made without --eval-shard"):
        find_shards([shard(tmp_path, 1).path, Shard(whole(tmp_path)).path])


def whole(tmp_path: Path) -> Path:
    run = RunDirectory.create(tmp_path / "whole")
    run.close()
    write_snapshot(run, {"shard": None})
    return run.path


@pytest.mark.parametrize("place", [[1], "ab", [None, 2], [3, 2], {"1": 2}])
def test_a_place_of_wrong_shape(tmp_path: Path, place: Any) -> None:
    one = shard(tmp_path, 1)
    write_snapshot(RunDirectory.attach(one.path), {"shard": place, "stage": "all"})
    with pytest.raises(DataError, match="damaged: shard is"):
        find_shards([tmp_path])


def test_files_of_wrong_shape(tmp_path: Path) -> None:
    one = shard(tmp_path, 1, model=[1])
    with pytest.raises(DataError, match=r"m\.json: damaged: no JSON object"):
        _ = one.models
    next((one.path / "configs").glob("config_*")).write_text("[]")
    with pytest.raises(DataError, match=r"config_.*\.json: damaged: no JSON object"):
        find_shards([tmp_path])
