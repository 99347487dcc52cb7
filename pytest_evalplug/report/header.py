"""The report header's line: light, as every pytest run imports it."""

from __future__ import annotations

__all__ = ["header", "short_path"]

import os
from pathlib import Path

from pytest_evalplug.options import RunConfig


def header(config: RunConfig) -> str | None:
    """Return the report header's line, where the session evaluates something by its options."""
    if not config.is_evaluation:
        return None
    models = ", ".join(f"{spec.name} ({spec.backend})" for spec in config.models)
    parts = [f"model {models}"] if models else []
    parts += [f"eval-mode {config.eval_mode}", f"stage {config.stage}"]
    if config.limit is not None:
        parts.append(f"limit {config.limit}")
    parts.append(f"work-dir {short_path(config.work_dir)}")
    return f"evalplug: {', '.join(parts)}"


def short_path(path: Path) -> str:
    """Return the path relative to the current folder, where it lies in it."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("..") else relative
