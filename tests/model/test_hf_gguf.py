from __future__ import annotations

import logging
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_evalplug.model.hf_gguf import unpacked


class FakeAuto:
    """Counts conversions and writes one file, as save_pretrained would."""

    made = 0
    fail = False

    @classmethod
    def from_pretrained(cls, path: str, **kwargs: Any) -> FakeAuto:
        return cls()

    def save_pretrained(self, folder: Path) -> None:
        type(self).made += 1
        (folder / "half").touch()
        if self.fail:
            raise OSError("disk full")


@pytest.fixture
def transformers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    monkeypatch.setenv("EVALPLUG_CACHE_DIR", str(tmp_path / "cache"))
    auto = type("Auto", (FakeAuto,), {})

    def from_pretrained(pretrained_model_name_or_path: str, **kwargs: Any) -> FakeAuto:
        instance: FakeAuto = auto()
        return instance

    loader = SimpleNamespace(from_pretrained=from_pretrained)
    return SimpleNamespace(
        AutoModelForCausalLM=loader,
        AutoTokenizer=loader,
        GgufConfig=lambda dequantize: dequantize,
        auto=auto,
    )


def test_a_file_is_unpacked_once_and_again_when_it_changes(
    transformers: Any, tmp_path: Path
) -> None:
    file = tmp_path / "m.gguf"
    file.write_text("one")
    first = unpacked(file, transformers)
    assert first is not None
    assert unpacked(file, transformers) == first
    assert transformers.auto.made == 2  # the model and the tokenizer
    file.write_text("other")
    second = unpacked(file, transformers)
    assert second != first
    assert transformers.auto.made == 4


def test_a_failure_leaves_nothing_behind_and_the_file_is_loaded_as_it_is(
    transformers: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "m.gguf"
    file.touch()
    transformers.auto.fail = True
    with caplog.at_level(logging.WARNING):
        assert unpacked(file, transformers) is None
    assert "disk full" in caplog.text
    assert [p.suffix for p in (tmp_path / "cache" / "gguf").iterdir()] == [".lock"]
