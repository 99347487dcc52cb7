"""Models whose parts transformers and accelerate place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_evalplug.errors import ConfigError
from pytest_evalplug.model.base import Choice, GenerationParams, LoglikelihoodQuery
from pytest_evalplug.model.hf import HFBackend
from pytest_evalplug.model.spec import HFOptions
from pytest_evalplug.types import ModelOutput
from tests.model.tiny_models import tiny_model

pytest.importorskip("accelerate", reason="pip install 'pytest-evalplug[hf]'")

PROMPTS = [f"Question: {word} jumps over the lazy dog? Answer:" for word in ("Who", "", "A fox")]
PARTS = ("model.embed_tokens", "model.norm", "model.rotary_emb", "lm_head", "model.layers.0")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("tiny"))


def backend(folder: Path, **model_kwargs: Any) -> HFBackend:
    options = HFOptions(
        model=str(folder), device="cpu", batch_size=2, max_length=256, model_kwargs=model_kwargs
    )
    return HFBackend("m", options, fingerprint="x")


def replies(model: HFBackend) -> tuple[list[str], list[float]]:
    """Return what it writes and how likely it finds texts; both by the shared-prefix ways."""
    assert model._decoder is not None
    assert model._tree is not None
    outputs = model.generate(PROMPTS, GenerationParams(max_tokens=6))
    queries = [LoglikelihoodQuery(prompt, (" Paris", " Rome")) for prompt in PROMPTS]
    choices = [c for row in model.loglikelihood(queries) if isinstance(row, list) for c in row]
    assert all(isinstance(choice, Choice) for choice in choices)
    return (
        [output.completion for output in outputs if isinstance(output, ModelOutput)],
        [choice.logprob for choice in choices],
    )


@pytest.mark.parametrize("device_map", ["auto", {"": "cpu"}, "split"])
def test_a_map_changes_no_reply(folder: Path, tmp_path: Path, device_map: Any) -> None:
    options: dict[str, Any] = {"device_map": device_map}
    if device_map == "split":  # a layer is read from the disk whenever it is its turn
        parts = {**dict.fromkeys(PARTS, "cpu"), "model.layers.1": "disk"}
        options = {"device_map": parts, "offload_folder": str(tmp_path)}
    texts, logprobs = replies(backend(folder, **options))
    plain_texts, plain_logprobs = replies(backend(folder))
    assert texts == plain_texts
    assert len(texts) == 3
    assert logprobs == pytest.approx(plain_logprobs, abs=1e-4)
    assert len(logprobs) == 6


def test_embeddings_on_the_disk_are_refused(folder: Path, tmp_path: Path) -> None:
    parts = {**dict.fromkeys(PARTS, "cpu"), "model.embed_tokens": "disk", "model.layers.1": "cpu"}
    with pytest.raises(ConfigError, match="leaves the embeddings on the disk"):
        backend(folder, device_map=parts, offload_folder=str(tmp_path))
