"""LAMBADA and WikiText with a real model, as lm-evaluation-harness measures them."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

from pytest_evalplug.dataset.adapter import AdapterOptions
from pytest_evalplug.model.base import Choice
from pytest_evalplug.model.hf import HFBackend
from pytest_evalplug.types import LoglikelihoodQuery
from tests.benchmarks.articles import ARTICLES

pytestmark = pytest.mark.real_model

ROOT = Path(__file__).resolve().parents[2]
HARNESS = json.loads(
    (ROOT / "tests/benchmarks/lm_eval_language_modelling.json").read_text(encoding="utf-8")
)


def adapter_of(module: str, cls: str, data_dir: Path) -> Any:
    """Return the adapter of a shipped benchmark."""
    benchmark = runpy.run_path(str(ROOT / "benchmarks" / f"{module}.py"))[cls]
    return benchmark(options=AdapterOptions(data_dirs=(data_dir,), eval_mode="ll"))


def single(backend: HFBackend, queries: list[LoglikelihoodQuery]) -> list[Choice]:
    results = backend.loglikelihood(queries)
    assert all(isinstance(result, list) for result in results), results
    return [result[0] for result in results if isinstance(result, list)]


def test_lambada(smollm2_backend: HFBackend, data_dir: Path) -> None:
    adapter = adapter_of("test_lambada", "TestLAMBADA", data_dir)
    theirs = HARNESS["lambada"]["replies"][:8]
    samples = adapter.samples("default")[: len(theirs)]
    ours = single(smollm2_backend, [adapter.build_query(s, "default") for s in samples])
    assert [c.logprob for c in ours] == pytest.approx([logprob for logprob, _ in theirs], abs=1e-3)
    assert [choice.is_greedy for choice in ours] == [greedy for _, greedy in theirs]
    assert 0 < sum(choice.is_greedy for choice in ours) < len(ours)


def test_wikitext(
    smollm2_backend: HFBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapter = adapter_of("test_wikitext", "TestWikiText", tmp_path)
    samples = [adapter.record_to_sample(row) for row in ARTICLES]
    queries = [adapter.build_query(sample, "wikitext-2-raw-v1") for sample in samples]
    for windows, length in (("wikitext", 2048), ("wikitext_64", 64)):
        monkeypatch.setattr(smollm2_backend, "_max_length", length)
        logprobs = [choice.logprob for choice in single(smollm2_backend, queries)]
        assert logprobs == pytest.approx(HARNESS[windows]["replies"], rel=1e-5)
