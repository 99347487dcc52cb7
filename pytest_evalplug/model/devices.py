"""Which GPU a process takes, and when several processes share one; without torch."""

from __future__ import annotations

__all__ = ["copies_note", "own_gpu", "visible_gpus"]

import os
import re
from collections.abc import Sequence
from pathlib import Path

from pytest_evalplug.model.spec import HFOptions, ModelSpec


def own_gpu(count: int) -> int:
    """Return the number of this process's GPU of ``count``: pytest-xdist's worker k takes GPU k."""
    worker = re.sub(r"\D", "", os.environ.get("PYTEST_XDIST_WORKER", "")) or "0"
    return int(worker) % count


def visible_gpus() -> int:
    """Return how many NVIDIA GPUs this process may use."""
    shown = os.environ.get("CUDA_VISIBLE_DEVICES")
    if shown is not None:
        return len([device for device in shown.split(",") if device.strip() not in ("", "-1")])
    return len([*Path("/dev").glob("nvidia[0-9]*")])


def copies_note(models: Sequence[ModelSpec], workers: int) -> str:
    """Return what to say where workers of pytest-xdist load one model several times on a device."""
    devices = max(1, visible_gpus())
    names = [
        spec.name
        for spec in models
        if isinstance(spec.options, HFOptions) and spec.options.engine == "local"
    ]
    if not names or workers <= devices:
        return ""
    where = f"{devices} GPUs" if devices > 1 else "one device"
    return (
        f"{', '.join(names)}: {workers} workers load {workers} copies onto {where}, which is slow. "
        f"Leave -n away (batches fill the device) or use -n {devices} at most; "
        "-n helps with servers and with --mode eval"
    )
