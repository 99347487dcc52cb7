"""The models that are named: their keys, a trial request to an API, the files of a local one."""

from __future__ import annotations

__all__ = ["keys", "trial"]

import asyncio
import importlib.util
import os
import socket
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_evalplug.doctor.check import Check, of_error, ok, problem, warn
from pytest_evalplug.doctor.machine import GIB, free_memory
from pytest_evalplug.errors import EvalplugError, ModelError, one_line
from pytest_evalplug.model.base import GenerationParams
from pytest_evalplug.model.spec import HFOptions, ModelSpec, OpenAIOptions
from pytest_evalplug.model.transport import shown_url

_KEY = "OPENAI_API_KEY"
_SECONDS = 20.0
_PARAMS = GenerationParams(max_tokens=1)
_PROMPT = "Reply with one word: hello"
_WEIGHTS = (".safetensors", ".bin", ".gguf")


def keys(tables: Mapping[str, Any]) -> Iterator[Check]:
    """Say which variables that hold keys are set; their values are never shown."""
    wanted: dict[str, list[str]] = {}
    for name, table in tables.items():
        if isinstance(table, Mapping) and table.get("backend") == "openai":
            variable = str(table.get("api_key_env", _KEY))
            wanted.setdefault(variable, []).append(name)
    for variable, names in (wanted or {_KEY: []}).items():
        state = "set" if os.environ.get(variable, "").strip() else "not set"
        users = f" (for {', '.join(names)})" if names else ""
        yield ok("keys", f"{variable} is {state}{users}")


def trial(spec: ModelSpec, *, load: bool) -> Iterator[Check]:
    """Try a model out: a request to an API; a local one's files, and with ``load`` a token."""
    name = f"model {spec.name}"
    try:
        if isinstance(spec.options, OpenAIOptions):
            yield from _api(name, spec, spec.options)
        else:
            yield from _local(name, spec, spec.options, load)
    except EvalplugError as error:
        yield of_error(name, error)


def _api(name: str, spec: ModelSpec, options: OpenAIOptions) -> Iterator[Check]:
    patient = min(options.timeout, _SECONDS)
    backend: Any = replace(spec, options=replace(options, max_retries=0, timeout=patient)).create()

    async def ask() -> tuple[Any, float, str]:
        try:
            start = time.monotonic()
            [reply] = await backend.generate([_PROMPT], _PARAMS)
            seconds = time.monotonic() - start
            if isinstance(reply, ModelError) or "loglikelihood" not in spec.capabilities:
                return reply, seconds, ""
            try:
                await backend.sequence_loss([_PROMPT])
            except ModelError as error:
                return reply, seconds, error.what
            return reply, seconds, ""
        finally:
            await backend.aclose()

    reply, seconds, fault = asyncio.run(ask())
    if isinstance(reply, ModelError):
        yield of_error(name, reply)
        return
    url = shown_url(options.base_url or os.environ.get("OPENAI_BASE_URL") or "api.openai.com")
    modes = "gen" if fault or "loglikelihood" not in spec.capabilities else "gen, ppl and ll"
    yield ok(name, f"{options.model} at {url} replies in {seconds:.1f} s: {modes}")
    if fault:
        yield warn(name, fault, "Use --eval-mode=gen with it, or backend 'hf'")


def _local(name: str, spec: ModelSpec, options: HFOptions, load: bool) -> Iterator[Check]:
    ray = options.engine == "ray"
    needed = ("torch", "transformers", *(["ray"] if ray else []))
    missing = [part for part in needed if not importlib.util.find_spec(part)]
    if missing:
        fix = f"pip install 'pytest-evalplug[{'ray' if ray else 'hf'}]'"
        yield problem(name, f"{' and '.join(missing)} not installed", fix)
        return
    if ray:
        check = _cluster(name, options.ray_address or os.environ.get("RAY_ADDRESS"))
        yield check
        load = load and check.state == "ok"
    elif (size := _size(options.model)) is None:
        yield _of_hub(name, options)
    else:
        yield _fitting(name, options.model, size)
    if load:
        backend: Any = spec.create()
        try:
            start = time.monotonic()
            [reply] = backend.generate([_PROMPT], _PARAMS)
            if isinstance(reply, ModelError):
                yield of_error(name, reply)
            else:
                yield ok(name, f"loaded; a token in {time.monotonic() - start:.1f} s")
        finally:
            backend.close()


def _cluster(name: str, address: str | None) -> Check:
    """Say whether a head node answers; whether the model fits, only the nodes know."""
    host, _, port = (address or "").rpartition(":")
    if not host or not port.isdigit():
        return ok(name, "a Ray cluster that runs here, else one of its own")
    try:
        socket.create_connection((host.rpartition("/")[2], int(port)), _SECONDS / 2).close()
    except (OSError, OverflowError) as error:
        fix = "Correct ray_address or RAY_ADDRESS, or start it: ray start --head"
        return problem(name, f"no Ray cluster at {address}: {one_line(error)}", fix)
    return ok(name, f"a Ray cluster answers at {address}")


def _size(model: str) -> int | None:
    """Return the bytes of a local model's weights, None for a hub id. Raises ConfigError."""
    from pytest_evalplug.model.hf_loading import locate

    source = locate(model)
    if not source.local:
        return None
    folder = Path(source.path)
    if source.gguf_file is not None:
        return (folder / source.gguf_file).stat().st_size
    return sum(path.stat().st_size for path in folder.iterdir() if path.suffix in _WEIGHTS)


def _fitting(name: str, model: str, size: int) -> Check:
    free = free_memory()
    text = f"{model}: found, {size / GIB:.2g} GiB"
    if size == 0:
        return problem(name, f"{model} holds no weights", "Copy the whole folder of the model")
    if free is not None and size > free and not _has_gpu():
        return warn(name, f"{text}, more than the free memory", "Use a GPU, or a smaller model")
    return ok(name, text)


def _has_gpu() -> bool:
    return any(Path("/dev").glob("nvidia[0-9]*"))


def _of_hub(name: str, options: HFOptions) -> Check:
    from huggingface_hub import try_to_load_from_cache

    found = try_to_load_from_cache(options.model, "config.json", revision=options.revision)
    if isinstance(found, str):
        return ok(name, f"{options.model}: in the hub's cache ({Path(found).parent})")
    return warn(
        name,
        f"{options.model}: not in the hub's cache, it will be downloaded",
        f"Without a network copy it there first: hf download {options.model}",
    )
