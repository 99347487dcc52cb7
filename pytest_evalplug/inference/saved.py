"""Saved predictions in the engine's place: scoring without a model, a network or a key."""

from __future__ import annotations

__all__ = ["SavedPredictions", "info_of", "with_gold"]

from collections.abc import Callable, Mapping
from dataclasses import replace

from pytest_evalplug.errors import ModelError
from pytest_evalplug.inference.case import Case
from pytest_evalplug.inference.inferencers import Inferencer
from pytest_evalplug.inference.records import Record, generation_params, prediction_key
from pytest_evalplug.model.spec import ModelInfo, ModelSpec
from pytest_evalplug.run.jsonio import digest
from pytest_evalplug.run.predictions import PredictionKey, PredictionStore


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
        payload = self._inferencer.build(case.adapter, case.sample, case.subset, None)
        params = generation_params(case, self.model)
        key = prediction_key(self.model.fingerprint, self._inferencer, payload, params, case)
        changed = key.differs(PredictionKey.from_wire(saved.get("key")))
        if changed:
            raise ModelError(
                f"the saved prediction of {self.model.name} is stale: changed {', '.join(changed)}",
                where=where,
                fix="Ask the model again with --reuse and without --mode eval",
            )
        return with_gold(saved, case, self.model.name, self._store)

    def forget(self, case: Case) -> None:
        """Nothing is held."""

    def close(self) -> None:
        """Nothing is open."""


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
