"""GGUF files, unpacked once.

transformers reads a GGUF file in pure Python, three times over: a minute for a small model, in
every process. A folder of safetensors with the same float32 weights loads in seconds.
"""

from __future__ import annotations

__all__ = ["unpacked"]

import hashlib
import logging
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from filelock import FileLock

log = logging.getLogger(__name__)


def unpacked(file: Path, transformers: Any) -> Path | None:
    """Return a transformers folder with what ``file`` holds, made at the first call.

    It lies in ``EVALPLUG_CACHE_DIR``, else in the user's cache folder, named after its
    content. None if it can't be written there; the file itself can be loaded then.
    """
    target = _cache_dir() / "gguf" / _name(file)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{target}.lock"):
            if not target.is_dir():
                _unpack(file, target, transformers)
    except OSError as error:
        log.warning("%s is loaded as it is: %s can't be written (%s)", file, target, error)
        return None
    return target


def _unpack(file: Path, target: Path, transformers: Any) -> None:
    log.info("unpacking %s into %s", file, target)
    source = {"pretrained_model_name_or_path": str(file.parent), "gguf_file": file.name}
    made = Path(tempfile.mkdtemp(dir=target.parent))
    try:
        model = transformers.AutoModelForCausalLM.from_pretrained(
            **source,
            dtype="float32",
            quantization_config=transformers.GgufConfig(dequantize=True),
        )
        model.save_pretrained(made)
        transformers.AutoTokenizer.from_pretrained(**source).save_pretrained(made)
        made.rename(target)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise


def _name(file: Path) -> str:
    """Return the same name for the same content, wherever it is installed."""
    digest = hashlib.sha256()
    with file.open("rb") as content:
        while block := content.read(1 << 20):
            digest.update(block)
    return f"{file.stem}-{digest.hexdigest()[:12]}"


def _cache_dir() -> Path:
    own = os.environ.get("EVALPLUG_CACHE_DIR")
    if own:
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pytest-evalplug"
