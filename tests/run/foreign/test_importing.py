from __future__ import annotations

from pathlib import Path

import pytest

from pytest_evalplug.errors import DataError
from pytest_evalplug.run.foreign.importing import Imported, import_run
from pytest_evalplug.run.predictions import PredictionStore
from pytest_evalplug.run.saved_run import open_foreign


def test_replies_become_predictions(opencompass: Path, tmp_path: Path) -> None:
    source = open_foreign(opencompass)
    imported = import_run(
        source, tmp_path / "outputs", None, {"with_details": "math", "equal": "m"}
    )
    assert imported.counts == {("chat", "math"): 6, ("chat", "m"): 6}
    record = PredictionStore(imported.run).get("chat", "math", "1")
    assert record is not None
    assert (record["prediction"], record["gold"]) == ("It is 1", "15")
    assert record["imported"] == {"from": "20261130_120000", "dataset": "with_details"}
    assert "key" not in record
    assert (imported.run.configs / "models" / "chat.json").is_file()
    assert not list(imported.run.journal.iterdir())


def left_out(imported: Imported) -> list[str]:
    return [line.partition(":")[0] for line in imported.left_out]


def test_likelihoods_are_left_out(lm_eval: Path, opencompass: Path, tmp_path: Path) -> None:
    imported = import_run(open_foreign(lm_eval), tmp_path, None, {})
    assert (imported.counts, left_out(imported)) == ({("chat", "asked"): 6}, ["chosen of small"])
    imported = import_run(open_foreign(opencompass), tmp_path, None, {})
    assert imported.counts["chat", "repeated"] == 12
    assert left_out(imported) == ["chosen of small"]


def test_nothing_to_import_leaves_nothing(opencompass: Path, tmp_path: Path) -> None:
    work_dir = tmp_path / "outputs"
    with pytest.raises(DataError, match=r"no reply to import\. Left out: chosen of small"):
        import_run(open_foreign(opencompass), work_dir, "small", {})
    assert list(work_dir.iterdir()) == []


@pytest.mark.parametrize(
    ("model", "datasets", "message"),
    [
        ("chatty", {}, r"no predictions of model 'chatty'\. Did you mean 'chat'"),
        (None, {"equals": "x"}, r"no predictions of dataset 'equals'\. Did you mean 'equal'"),
    ],
)
def test_what_is_not_there(
    opencompass: Path, tmp_path: Path, model: str | None, datasets: dict[str, str], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        import_run(open_foreign(opencompass), tmp_path / "outputs", model, datasets)
    assert not (tmp_path / "outputs").exists()
