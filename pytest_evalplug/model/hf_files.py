"""What says whether a local model is still the one that it was."""

from __future__ import annotations

__all__ = ["files_state"]

from pathlib import Path

_PARTS = {".safetensors", ".bin", ".gguf", ".json", ".model", ".txt", ".jinja", ".py"}
"""What weights, configuration, tokenizer and chat template are written in."""


def files_state(model: str | None) -> list[tuple[str, int, int]]:
    """Return name, size (bytes) and time of change (ns) of a folder's or GGUF file's parts.

    Empty for a hub id, whose revision says it, for a file in a package, whose version does, and
    for what is not there.
    """
    if not model:
        return []
    path = Path(model).expanduser()
    try:
        files = sorted(path.iterdir()) if path.is_dir() else [path]
        states = [(file.name, file.stat()) for file in files if file.suffix in _PARTS]
    except OSError:
        return []
    return [(name, state.st_size, state.st_mtime_ns) for name, state in states]
