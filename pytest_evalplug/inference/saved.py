"""Saved predictions in the engine's place: scoring without a model, a network or a key."""

from __future__ import annotations

__all__ = ["SavedPredictions"]

from collections.abc import Callable

from pytest_evalplug.errors import ModelError
from pytest_evalplug.inference.case import Case
from pytest_evalplug.inference.inferencers import Inferencer
from pytest_evalplug.inference.records import Record, generation_params, prediction_key
from pytest_evalplug.model.spec import ModelInfo
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
        return saved

    def forget(self, case: Case) -> None:
        """Nothing is held."""

    def close(self) -> None:
        """Nothing is open."""
