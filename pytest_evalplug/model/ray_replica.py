"""What runs in a Ray actor: one copy of a model, on the GPUs that Ray shows the process."""

from __future__ import annotations

__all__ = ["ModelActor"]

import os
from typing import Any

from pytest_evalplug.model.hf import HFBackend
from pytest_evalplug.model.hf_batches import out_of_memory
from pytest_evalplug.model.spec import HFOptions


class ModelActor:
    """Loads the model when it is first needed, so that a failure is an answer and no death."""

    def __init__(self, name: str, options: HFOptions) -> None:
        self._name = name
        self._options = options
        self._backend: HFBackend | None = None

    def placed(self) -> None:
        """Answer as soon as there is room for this on a node."""

    def load(self) -> None:
        """Have the model. Raises ConfigError if it can't be had on this node."""
        self._loaded()

    def call(self, method: str, *args: Any) -> Any:
        """Return what ``HFBackend.method(*args)`` returns."""
        try:
            return getattr(self._loaded(), method)(*args)
        except RuntimeError as error:
            if "CUDA error" in str(error) and not out_of_memory(error):
                os._exit(1)  # nothing works on the GPU in this process any more; Ray starts another
            raise

    def _loaded(self) -> HFBackend:
        if self._backend is None:
            self._backend = HFBackend(self._name, self._options, fingerprint="")
        return self._backend
