"""Saved predictions in the engine's place: scoring without a model, a network or a key."""

from __future__ import annotations

__all__ = ["SavedPredictions", "asks_about", "info_of", "saved_models", "with_gold"]

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from pytest_evalplug.errors import DataError, ModelError
from pytest_evalplug.inference.case import Case
from pytest_evalplug.inference.inferencers import Inferencer
from pytest_evalplug.inference.records import Record, generation_params, prediction_key
from pytest_evalplug.model.spec import ModelInfo, ModelSpec
from pytest_evalplug.run.directory import RunDirectory
from pytest_evalplug.run.jsonio import digest
from pytest_evalplug.run.predictions import PredictionStore
from pytest_evalplug.run.snapshot import read_object
from pytest_evalplug.types import Sample


class SavedPredictions:
    """Serves what a run has saved; what is missing or no longer fits is an error."""

    def __init__(self, inferencer: Inferencer, store: PredictionStore, model: ModelInfo) -> None:
        self._inferencer = inferencer
        self._store = store
        self.model = model

    def result(self, case: Case, tick: Callable[[], None] | None = None) -> Record:
        """Return the saved record. Raises ModelError that says why there is none."""
        saved = self._store.lookup(self.model.name, case.dataset, case.index)
        where = f"{case.dataset}[{case.item_id}]"
        if saved is None:
            raise ModelError(
                f"no saved prediction of {self.model.name}",
                where=where,
                fix="Run it without --mode eval",
            )
        if "prediction" not in saved:
            raise ModelError(str(saved.get("error")), where=f"{where} (saved error)")
        if "imported" in saved:
            return self._imported(saved, case, where)
        payload = self._inferencer.build(case.adapter, case.sample, case.subset, None)
        params = generation_params(case, self.model)
        key = prediction_key(self.model.fingerprint, self._inferencer, payload, params, case)
        changed = key.differs(saved.get("key"))
        if changed:
            raise ModelError(
                f"the saved prediction of {self.model.name} is stale: changed {', '.join(changed)}",
                where=where,
                fix="Ask the model again with --reuse and without --mode eval",
            )
        return with_gold(saved, case, self.model.name, self._store)

    def _imported(self, saved: Record, case: Case, where: str) -> Record:
        """Return another tool's reply; it has no key, but must be to this sample's question."""
        if self._inferencer.mode != "gen":
            raise ModelError(
                f"the reply of {self.model.name} was imported, and is none by likelihood",
                where=where,
                fix="Score it with --eval-mode=gen",
            )
        if not asks_about(saved, case.sample):
            raise ModelError(
                f"the imported reply of {self.model.name} is to another question, or to other"
                " choices or in another order",
                where=where,
                fix="Check that both tools read the same rows, and evalplug import --dataset",
            )
        record = {**saved, "sample_id": case.item_id, "subset": case.subset}
        if case.sample.choices is not None:
            record["choices"] = case.sample.choices
        return with_gold(record, case, self.model.name, self._store)

    def forget(self, case: Case) -> None:
        """Nothing is held."""

    def close(self) -> None:
        """Nothing is open."""


def asks_about(record: Mapping[str, Any], sample: Sample) -> bool:
    """Tell whether a record's prompt asks what ``sample`` asks, whatever stands around it.

    White space aside, the sample's question must be in the prompt's last message that is the
    user's, and from there on its choices, in their order: a letter means nothing without. A
    question without choices may as well be a field of the ``doc`` that was asked about.
    """
    question = _asked(sample.input)
    if not question:
        return False
    text = _asked(record.get("origin_prompt"))
    doc = record.get("doc")
    if isinstance(doc, Mapping) and not sample.choices:
        return any(_words(value) == question for value in doc.values())
    place = text.rfind(question)
    for choice in sample.choices or () if place >= 0 else ():
        place = text.find(_words(choice), place)
        if place < 0:
            return False
        place += len(_words(choice))
    return place >= 0


def _asked(prompt: Any) -> str:
    """Return a prompt's text, a conversation's last message of the user, white space normalised."""
    if isinstance(prompt, list):
        mine = [m for m in prompt if isinstance(m, Mapping) and m.get("role") == "user"]
        prompt = mine[-1].get("content") if mine else None
    return _words(prompt)


def _words(text: Any) -> str:
    return " ".join(text.split()) if isinstance(text, str) else ""


def with_gold(saved: Record, case: Case, model: str, store: PredictionStore) -> Record:
    """Return a saved record with the reference as it is now; one that was corrected is kept."""
    target = case.sample.target
    gold = saved.get("gold")
    if isinstance(target, str) and gold == target:
        return saved
    if digest(gold) == digest(target):  # == would take 1 for True
        return saved
    record = {**saved, "gold": target}
    store.put(model, case.dataset, record)
    return record


def info_of(spec: ModelSpec, saved: Mapping[str, ModelInfo]) -> ModelInfo:
    """Return what is known of a model that ``--model`` names and that won't be asked.

    Its weights may be gone or a fixture may have stood for it, so with the same options it is
    the model that the run has predictions of.
    """
    known = saved.get(spec.name)
    if known is None or known.settings != spec.settings:
        return spec.info
    return replace(spec.info, fingerprint=known.fingerprint)


def saved_models(run: RunDirectory) -> dict[str, ModelInfo]:
    """Return the models that a run has predictions of. Raises DataError if that is damaged."""
    infos = {}
    fix = "Run it once more with --reuse and without --mode eval, which writes it anew"
    for path in sorted((run.configs / "models").glob("*.json")):
        try:
            info = ModelInfo.from_wire(read_object(path, fix=fix))
        except TypeError as error:
            raise DataError(f"damaged: {error}", where=str(path), fix=fix) from None
        infos[info.name] = info
    return infos
