"""Another tool's predictions made a run of ours, so that our Evaluators can score them."""

from __future__ import annotations

__all__ = ["Imported", "import_run"]

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_evalplug.errors import DataError, nearest
from pytest_evalplug.model.spec import ModelInfo
from pytest_evalplug.run.directory import RunDirectory, safe_name
from pytest_evalplug.run.jsonio import dumps, write_atomic
from pytest_evalplug.run.predictions import PredictionStore
from pytest_evalplug.run.saved_run import ForeignRun
from pytest_evalplug.run.snapshot import write_snapshot


@dataclass(slots=True)
class Imported:
    """What was taken over: (model, dataset of ours) -> number of predictions, and what was not."""

    run: RunDirectory
    counts: dict[tuple[str, str], int] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)


def import_run(
    source: ForeignRun, work_dir: Path, model: str | None, datasets: Mapping[str, str]
) -> Imported:
    """Make a run directory in ``work_dir`` from the replies of ``source``.

    ``model`` leaves only one of the source's, ``datasets`` only these: they map what the source
    calls a dataset to what ours is called, which is ``<benchmark>-<subset>`` where a benchmark has
    several. Choices among likelihoods are no replies, and left out.

    A prediction says in ``imported`` where it comes from; it has no key, and is scored only for
    the sample that its prompt asks about. Raises DataError if nothing is left to import.
    """
    tables = source.predicted()
    for what, wanted, known in (
        ("model", [model] if model else [], [name for name, _ in tables]),
        ("dataset", list(datasets), [name for _, name in tables]),
    ):
        for name in wanted:
            if name not in known:
                raise DataError(
                    f"no predictions of {what} {name!r}",
                    where=str(source.path),
                    fix=nearest(name, known),
                )
    with RunDirectory.create(work_dir) as run:
        imported = Imported(run)
        source_path = str(source.path.absolute())
        made = {"stage": "import", "source": source_path, "eval_mode": "gen"}
        write_snapshot(run, {**made, "limit": None, "subsets": []})  # what scoring it follows
        store = PredictionStore(run, "import")
        for name, dataset in tables:
            if (model or name) == name and (not datasets or dataset in datasets):
                _take(source, name, dataset, datasets.get(dataset, dataset), store, imported)
        store.close()
        store.merge()
    if not imported.counts:
        shutil.rmtree(run.path)
        raise DataError(
            "there is no reply to import",
            where=str(source.path),
            fix="; ".join(f"Left out: {why}" for why in imported.left_out),
        )
    return imported


def _take(
    source: ForeignRun, model: str, theirs: str, ours: str, store: PredictionStore, to: Imported
) -> None:
    count = 0
    for index, record in source.records(model, theirs).items():
        if "pred_label" in record or not _is_reply(record.get("prediction")):
            continue
        kept = {
            name: record[name]
            for name in ("origin_prompt", "prediction", "gold", "doc")
            if name in record
        }
        origin = {"from": source.name, "dataset": theirs}
        store.put(model, ours, {"index": index, **kept, "imported": origin})
        count += 1
    if not count:
        to.left_out.append(f"{theirs} of {model}: choices among likelihoods, no replies")
        return
    to.counts[model, ours] = to.counts.get((model, ours), 0) + count
    info = ModelInfo(model, f"imported from {source.path.absolute()}")
    path = to.run.configs / "models" / f"{safe_name(model)}.json"
    write_atomic(path, dumps(info.to_wire()))


def _is_reply(prediction: Any) -> bool:
    several = isinstance(prediction, list) and prediction
    return all(isinstance(p, str) for p in prediction) if several else isinstance(prediction, str)
