from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_evalplug.doctor import models
from pytest_evalplug.doctor.check import Check, Group, examine
from pytest_evalplug.model.spec import HFOptions, ModelSpec, resolve_model
from tests.likelihood_server import scoring, toy_tokens, without_echo
from tests.servers import OpenAIServer, api_server, error, free_port

__all__ = ["api_server"]


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def tried(spec: ModelSpec, *, load: bool = False) -> list[Check]:
    """Return the checks of a model; in a thread, where :func:`examine` puts them."""
    return examine([Group(spec.name, lambda: models.trial(spec, load=load), 60)])


def api(url: str, **options: Any) -> ModelSpec:
    return resolve_model(
        "m", {"m": {"backend": "openai", "model": "m", "base_url": url, **options}}
    )


def test_keys_are_told_without_their_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTHER", "sk-secret")
    tables = {
        "a": {"backend": "openai"},
        "b": {"backend": "openai", "api_key_env": "OTHER"},
        "c": {"backend": "openai", "api_key_env": "OTHER"},
        "d": {"backend": "hf"},
        "e": "no table",
    }
    assert [check.text for check in models.keys(tables)] == [
        "OPENAI_API_KEY is not set (for a)",
        "OTHER is set (for b, c)",
    ]


def test_an_api(api_server: OpenAIServer) -> None:
    [check] = tried(api(api_server.url))
    assert check.state == "ok"
    assert check.text.endswith(" s: gen")
    [call] = api_server.calls
    assert call.body["max_tokens"] == 1


def test_an_api_that_scores_prompts(api_server: OpenAIServer) -> None:
    api_server.script = scoring(toy_tokens)
    [check] = tried(api(api_server.url, api="completions"))
    assert check.text.endswith(" s: gen, ppl and ll")


def test_an_api_that_does_not(api_server: OpenAIServer) -> None:
    api_server.script = scoring(toy_tokens, without_echo)
    works, fails = tried(api(api_server.url, api="completions"))
    assert (works.state, fails.state) == ("ok", "warn")
    assert works.text.endswith(" s: gen")
    assert fails.text.endswith("the server ignores echo and logprobs")


def test_an_api_that_wants_a_key(api_server: OpenAIServer) -> None:
    api_server.script = lambda call: error(401, "who are you")
    [check] = tried(api(api_server.url, api_key_env="MY_KEY"))
    assert (check.state, check.fix) == ("problem", "Set MY_KEY")
    assert "who are you" in check.text
    assert len(api_server.calls) == 1


def test_nobody_there() -> None:
    [check] = tried(api(f"http://127.0.0.1:{free_port()}/v1"))
    assert check.state == "problem"
    assert "cannot connect" in check.text


class TestLocal:
    """A model of transformers, which is found but not loaded."""

    @pytest.fixture(autouse=True)
    def _installed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(models, "_has_gpu", lambda: False)

    def spec(self, model: str) -> ModelSpec:
        return ModelSpec("m", "hf", HFOptions(model=model))

    def folder(self, path: Path, size: int) -> str:
        (path / "config.json").write_text("{}")
        (path / "model.safetensors").write_bytes(bytes(size))
        return str(path)

    def test_found(self, tmp_path: Path) -> None:
        [check] = tried(self.spec(self.folder(tmp_path, 1000)))
        assert check.state == "ok"
        assert check.text.startswith(f"{tmp_path}: found, ")

    def test_larger_than_the_memory(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(models, "free_memory", lambda: 999)
        [check] = tried(self.spec(self.folder(tmp_path, 1000)))
        assert (check.state, check.fix) == ("warn", "Use a GPU, or a smaller model")

    def test_without_weights(self, tmp_path: Path) -> None:
        [check] = tried(self.spec(self.folder(tmp_path, 0)))
        assert check.state == "problem"

    def test_nothing_there(self, tmp_path: Path) -> None:
        [check] = tried(self.spec(str(tmp_path / "none.gguf")))
        assert (check.state, check.text) == (
            "problem",
            f"no file or folder '{tmp_path / 'none.gguf'}'",
        )

    def test_not_in_the_cache_of_the_hub(self) -> None:
        [check] = tried(self.spec("nobody/nosuch-model"))
        assert (check.state, check.fix.rpartition(": ")[2]) == (
            "warn",
            "hf download nobody/nosuch-model",
        )

    def test_ray_answers_and_the_memory_here_does_not_matter(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, api_server: OpenAIServer
    ) -> None:
        monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
        monkeypatch.setattr(models, "free_memory", lambda: 999)
        model = self.folder(tmp_path, 1000)
        host = api_server.url.removeprefix("http://").removesuffix("/v1")
        for address in (host, f"ray://{host}", "auto"):
            options = HFOptions(model=model, engine="ray", ray_address=address)
            [check] = tried(ModelSpec("m", "hf", options))
            assert check.state == "ok"
            assert "Ray cluster" in check.text

    def test_ray_does_not_answer(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
        monkeypatch.setenv("RAY_ADDRESS", f"127.0.0.1:{free_port()}")
        [check] = tried(ModelSpec("m", "hf", HFOptions(model="m", engine="ray")), load=True)
        assert check.state == "problem"
        assert "ray_address" in check.fix

    def test_ray_is_not_installed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(
            "importlib.util.find_spec", lambda name: None if name == "ray" else object()
        )
        [check] = tried(ModelSpec("m", "hf", HFOptions(model="m", engine="ray")))
        assert (check.text, check.fix) == (
            "ray not installed",
            "pip install 'pytest-evalplug[ray]'",
        )

    def test_transformers_is_not_installed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
        [check] = tried(self.spec("nobody/nosuch-model"))
        assert check.text == "torch and transformers not installed"
        assert check.fix == "pip install 'pytest-evalplug[hf]'"
