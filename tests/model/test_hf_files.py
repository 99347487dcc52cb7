from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_evalplug.model.hf_files import files_state


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder as save_pretrained and a trainer leave it."""
    for name in ("config.json", "model.safetensors", "README.md", "events.out"):
        (tmp_path / name).write_text(name)
    return tmp_path


def test_a_folder_s_weights_and_configuration_count(folder: Path) -> None:
    assert [(name, size) for name, size, _ in files_state(str(folder))] == [
        ("config.json", 11),
        ("model.safetensors", 17),
    ]


@pytest.mark.parametrize(("name", "same"), [("model.safetensors", False), ("README.md", True)])
def test_a_file_written_again(folder: Path, name: str, same: bool) -> None:
    before = files_state(str(folder))
    os.utime(folder / name, (1, 1))
    assert (files_state(str(folder)) == before) is same


def test_a_gguf_file(tmp_path: Path) -> None:
    file = tmp_path / "m.gguf"
    file.write_bytes(b"GGUF")
    assert [(name, size) for name, size, _ in files_state(str(file))] == [("m.gguf", 4)]


@pytest.mark.parametrize(
    "model", [None, "gpt2", "Qwen/Qwen2.5-0.5B", "gone/model.gguf", "package:no/x.gguf"]
)
def test_what_is_no_file_here_has_no_state(model: str | None) -> None:
    assert files_state(model) == []
