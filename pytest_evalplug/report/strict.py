"""JSON as browsers and dashboards read it."""

from __future__ import annotations

__all__ = ["strict_json"]

import json
import math
from typing import Any

from pytest_evalplug.run.jsonio import dumps


def strict_json(obj: Any) -> str:
    """Return ``obj`` as one line of JSON, in which NaN and infinities are null."""
    text = dumps(obj)
    if "NaN" in text or "Infinity" in text:
        text = dumps(_finite(json.loads(text)))
    return text


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
