from __future__ import annotations

import pytest

from pytest_evalplug.model.devices import copies_note, own_gpu, visible_gpus
from pytest_evalplug.model.spec import ModelSpec, resolve_model

LOCAL = resolve_model("hf:./m", {})
SERVED = resolve_model("openai:m", {})
SPREAD = resolve_model("s", {"s": {"backend": "hf", "model": "m", "engine": "ray"}})


@pytest.mark.parametrize(("worker", "gpu"), [("gw0", 0), ("gw3", 3), ("gw4", 0), ("", 0)])
def test_a_worker_takes_the_gpu_of_its_number(
    worker: str, gpu: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_XDIST_WORKER", worker)
    assert own_gpu(4) == gpu


@pytest.mark.parametrize(("shown", "count"), [("", 0), ("-1", 0), ("0", 1), ("2,GPU-8f1a", 2)])
def test_visible_gpus(shown: str, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", shown)
    assert visible_gpus() == count


@pytest.mark.parametrize(
    ("models", "workers", "gpus", "says"),
    [
        ([LOCAL], 4, "", "m: 4 workers load 4 copies onto one device"),
        ([SERVED, LOCAL], 4, "0,1", "use -n 2 at most"),
        ([LOCAL], 2, "0,1", ""),
        ([LOCAL], 1, "", ""),
        ([SERVED, SPREAD], 8, "", ""),
    ],
)
def test_several_copies_on_one_device_are_said(
    models: list[ModelSpec],
    workers: int,
    gpus: str,
    says: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", gpus)
    note = copies_note(models, workers)
    assert says in note
    assert bool(note) is bool(says)
