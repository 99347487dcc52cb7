from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_evalplug.errors import ConfigError
from pytest_evalplug.model.spec import BUILTIN_MODELS, HFOptions, OpenAIOptions, resolve_model

TABLES: dict[str, dict[str, Any]] = {
    "mine": {
        "backend": "openai",
        "model": "org/m-7b",
        "base_url": "http://h:1/v1",
        "generation": {"temperature": 1.0},
        "pred_postprocessor": "think",
    },
    "local": {"backend": "hf", "model": "./folder", "batch_size": 3},
    "limited": {
        "backend": "openai",
        "model": "m",
        "requests_per_minute": 60,
        "tokens_per_minute": 100_000,
        "price": {"prompt": 0.15, "completion": 1, "cached_prompt": 0},
    },
    "spread": {
        "backend": "hf",
        "model": "m",
        "engine": "ray",
        "replicas": 4,
        "num_gpus": 0.5,
        "ray_address": "auto",
    },
}


class TestNames:
    def test_a_table(self) -> None:
        spec = resolve_model("mine", TABLES)
        assert (spec.name, spec.backend) == ("mine", "openai")
        assert spec.options == OpenAIOptions(model="org/m-7b", base_url="http://h:1/v1")
        assert spec.generation == {"temperature": 1.0}
        assert spec.pred_postprocessor == "think"

    @pytest.mark.parametrize("name", BUILTIN_MODELS)
    def test_built_in(self, name: str) -> None:
        spec = resolve_model(name, {})
        assert (spec.name, spec.backend) == (name, "hf")

    def test_a_table_goes_before_the_built_in(self) -> None:
        spec = resolve_model("qwen", {"qwen": {"backend": "hf", "model": "./other"}})
        assert spec.options == HFOptions(model="./other")

    def test_a_table_may_have_any_name(self) -> None:
        tables = {"hf:x": {"backend": "openai", "model": "m"}}
        assert resolve_model("hf:x", tables).backend == "openai"

    def test_an_unknown_name_lists_the_nearest_first(self) -> None:
        with pytest.raises(ConfigError) as caught:
            resolve_model("smolm2", TABLES)
        assert str(caught.value) == (
            "--model: unknown model 'smolm2'. Did you mean 'smollm2'? Known: smollm2, limited, "
            "local, mine, qwen, spread; or hf:<id-or-path>, openai:<model>@<base_url>"
        )

    @pytest.mark.parametrize("text", ["", "hf:", "openai:", "vllm:x", "HF:x"])
    def test_no_model_at_all(self, text: str) -> None:
        with pytest.raises(ConfigError, match="unknown model"):
            resolve_model(text, {})


class TestAdHoc:
    @pytest.mark.parametrize(
        ("text", "column"),
        [
            ("hf:Qwen/Qwen2.5-0.5B", "Qwen2.5-0.5B"),
            ("hf:/models/smollm2/", "smollm2"),
            ("hf:gpt2", "gpt2"),
        ],
    )
    def test_hf(self, text: str, column: str) -> None:
        spec = resolve_model(text, {})
        assert spec.options == HFOptions(model=text.removeprefix("hf:"))
        assert spec.name == column

    @pytest.mark.parametrize(
        ("text", "model", "url"),
        [
            ("openai:gpt-5", "gpt-5", None),
            ("openai:org/m@http://h:8000/v1", "org/m", "http://h:8000/v1"),
            ("openai:m@https://me:pw@h/v1", "m", "https://me:pw@h/v1"),
            ("openai:/models/m:f.gguf@http://h/v1", "/models/m:f.gguf", "http://h/v1"),
            ("openai:@cf/meta/m@https://h/v1", "@cf/meta/m", "https://h/v1"),
            ("openai:@cf/meta/m", "@cf/meta/m", None),
            ("openai:m@2024-08-06", "m@2024-08-06", None),
        ],
    )
    def test_openai(self, text: str, model: str, url: str | None) -> None:
        spec = resolve_model(text, {})
        assert spec.options == OpenAIOptions(model=model, base_url=url)
        assert spec.name == model.rsplit("/", 1)[-1]

    @pytest.mark.parametrize("url", ["localhost:8000/v1", "ftp://h/v1", "h:8000"])
    def test_a_base_url_that_is_none(self, url: str) -> None:
        with pytest.raises(ConfigError, match=r"is not a base URL.*http://host:port/v1"):
            resolve_model(f"openai:m@{url}", {})


class TestTables:
    def error(self, **table: Any) -> str:
        with pytest.raises(ConfigError) as caught:
            resolve_model("x", {"x": table})
        assert "\n" not in str(caught.value)
        return str(caught.value)

    def test_a_misspelt_option(self) -> None:
        text = self.error(backend="openai", model="m", base_ulr="http://h/v1")
        assert text.startswith(
            "[tool.evalplug.models.x]: unknown option 'base_ulr' for backend 'openai'. "
            "Did you mean 'base_url'?"
        )

    def test_an_option_of_the_other_backend(self) -> None:
        assert "unknown option 'batch_size'" in self.error(
            backend="openai", model="m", batch_size=4
        )

    @pytest.mark.parametrize("backend", ["opnai", None, 7, ["openai"]])
    def test_an_unknown_backend(self, backend: Any) -> None:
        text = self.error(backend=backend, model="m")
        assert f"backend is {backend!r}" in text
        assert "openai" in text

    def test_no_model(self) -> None:
        assert "model is missing" in self.error(backend="hf")

    @pytest.mark.parametrize(
        ("option", "value"),
        [
            ("concurrency", 0),
            ("concurrency", "32"),
            ("concurrency", True),
            ("concurrency", 1.5),
            ("timeout", 0),
            ("timeout", "60"),
            ("max_retries", -1),
            ("requests_per_minute", 0),
            ("tokens_per_minute", 0.5),
            ("api", "responses"),
            ("base_url", 80),
            ("model", 7),
        ],
    )
    def test_a_value_that_cannot_be(self, option: str, value: Any) -> None:
        text = self.error(**{"backend": "openai", "model": "m", option: value})
        assert text.startswith(f"[tool.evalplug.models.x]: {option} is {value!r}")

    def test_what_may_be_secret_is_not_shown(self) -> None:
        text = self.error(backend="openai", model="m", headers=["Authorization: geheim"])
        assert text.endswith("headers is of the wrong type. It must be a table of strings")
        assert "geheim" not in self.error(backend="openai", model="m", headers={"A": ["geheim"]})

    def test_what_it_must_be(self) -> None:
        api = self.error(backend="openai", model="m", api="responses")
        assert api.endswith("It must be 'chat' or 'completions'")
        size = self.error(backend="hf", model="m", batch_size="8")
        assert size.endswith("It must be an integer of at least 1")
        template = self.error(backend="hf", model="m", chat_template="yes")
        assert template.endswith("It must be true or false")

    @pytest.mark.parametrize(
        ("generation", "message"),
        [
            (
                {"temprature": 0.5},
                "generation has no parameter 'temprature'. Did you mean 'temperature'?",
            ),
            ({"temperature": "0.5"}, "generation.temperature is '0.5'. It must be a number"),
            ({"temperature": -0.5}, "generation.temperature is -0.5"),
            ({"max_tokens": 0}, "generation.max_tokens is 0. It must be an integer of at least 1"),
            ({"max_tokens": True}, "generation.max_tokens is True"),
            ({"seed": 1.5}, "generation.seed is 1.5. It must be an integer"),
            ({"stop": ["a", 1]}, "generation.stop is ['a', 1]. It must be a string or a list of"),
            (3, "generation is 3. It must be a table"),
        ],
    )
    def test_generation(self, generation: Any, message: str) -> None:
        text = self.error(backend="hf", model="m", generation=generation)
        assert text.startswith(f"[tool.evalplug.models.x]: {message}")

    @pytest.mark.parametrize(
        ("price", "message"),
        [
            (0.15, "price is 0.15. For example price = { prompt = 0.15, completion = 0.6 }, per"),
            ({"prompt": 1}, "price lacks 'completion'. For example"),
            ({"promt": 1, "completion": 2}, "price has no part 'promt'. Did you mean 'prompt'?"),
            (
                {"prompt": -1, "completion": 2},
                "price.prompt is -1. It must be a number of at least 0",
            ),
            ({"prompt": 1, "completion": float("inf")}, "price.completion is inf"),
            ({"prompt": 1, "completion": True}, "price.completion is True"),
        ],
    )
    def test_prices(self, price: Any, message: str) -> None:
        text = self.error(backend="hf", model="m", price=price)
        assert text.startswith(f"[tool.evalplug.models.x]: {message}")

    @pytest.mark.parametrize(
        ("option", "value"),
        [("engine", "dask"), ("replicas", 0), ("num_gpus", -1), ("ray_address", 6379)],
    )
    def test_replicas_that_cannot_be(self, option: str, value: Any) -> None:
        text = self.error(**{"backend": "hf", "model": "m", option: value})
        assert text.startswith(f"[tool.evalplug.models.x]: {option} is {value!r}")

    def test_generation_as_it_may_be(self) -> None:
        generation = {"temperature": 1, "top_p": None, "seed": 3, "stop": ["\n"], "max_tokens": 9}
        table = {"backend": "hf", "model": "m", "generation": generation}
        assert resolve_model("x", {"x": table}).generation == generation
        table["generation"] = {"stop": "\n"}
        assert resolve_model("x", {"x": table}).generation == {"stop": "\n"}

    def test_an_integer_will_do_for_seconds(self) -> None:
        table = {"backend": "openai", "model": "m", "timeout": 30, "max_retries": 0}
        options = resolve_model("x", {"x": table}).options
        assert options == OpenAIOptions(model="m", timeout=30, max_retries=0)


class TestSpec:
    def test_capabilities_are_known_without_loading(self) -> None:
        assert resolve_model("mine", TABLES).capabilities == {"generate"}
        assert resolve_model("local", TABLES).capabilities == {"generate", "loglikelihood"}

    @pytest.mark.parametrize("name", ["mine", "local", "smollm2", "limited", "spread"])
    def test_wire_form_reads_back(self, name: str) -> None:
        spec = resolve_model(name, TABLES)
        wire = json.loads(json.dumps(spec.to_wire()))
        assert resolve_model(name, {name: wire}) == spec

    def fingerprint(self, **changes: Any) -> str:
        return resolve_model("mine", {"mine": {**TABLES["mine"], **changes}}).fingerprint

    def test_the_fingerprint_is_stable(self) -> None:
        assert self.fingerprint() == resolve_model("mine", TABLES).fingerprint
        assert len(self.fingerprint()) == 16

    @pytest.mark.parametrize(
        "change",
        [
            {"concurrency": 1},
            {"timeout": 1.0},
            {"max_retries": 0},
            {"api_key_env": "MY_KEY"},
            {"headers": {"X-A": "b"}},
            {"requests_per_minute": 9},
            {"tokens_per_minute": 9},
            {"price": {"prompt": 1, "completion": 2}},
        ],
    )
    def test_what_cannot_change_a_reply_is_not_in_the_fingerprint(
        self, change: dict[str, Any]
    ) -> None:
        assert self.fingerprint(**change) == self.fingerprint()

    def test_nor_is_where_it_runs(self) -> None:
        spread = {key: TABLES["spread"][key] for key in ("backend", "model")}
        here, there = resolve_model("m", {"m": spread}), resolve_model("spread", TABLES)
        assert here.settings == there.settings
        assert here.fingerprint == there.fingerprint

    @pytest.mark.parametrize(
        "change",
        [
            {"model": "other"},
            {"base_url": "http://other/v1"},
            {"api": "completions"},
            {"extra_body": {"top_k": 1}},
        ],
    )
    def test_what_can_change_a_reply_is(self, change: dict[str, Any]) -> None:
        assert self.fingerprint(**change) != self.fingerprint()

    def test_the_url_of_the_environment_is_in_the_fingerprint(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("OPENAI_BASE_URL", "http://one/v1")
        spec = resolve_model("openai:m", {})
        one, given = spec.fingerprint, self.fingerprint()
        monkeypatch.setenv("OPENAI_BASE_URL", "http://two/v1")
        assert spec.fingerprint != one
        assert self.fingerprint() == given  # it has a URL of its own
        monkeypatch.delenv("OPENAI_BASE_URL")
        assert spec.fingerprint != one

    def test_weights_that_were_trained_on_are_in_the_fingerprint(self, tmp_path: Path) -> None:
        weights = tmp_path / "model.safetensors"
        weights.write_bytes(b"1")
        spec = resolve_model(f"hf:{tmp_path}", {})
        first, settings = spec.fingerprint, spec.settings
        weights.write_bytes(b"22")
        assert spec.fingerprint != first
        weights.unlink()
        tmp_path.rmdir()
        assert spec.fingerprint != first  # and no exception
        assert spec.settings == settings

    def test_headers_are_not_shown(self) -> None:
        options = OpenAIOptions(model="m", headers={"Authorization": "Bearer geheim"})
        assert "geheim" not in repr(options)
