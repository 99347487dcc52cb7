"""What a saved run may not decide, as it may come from anywhere: whom to ask, whose code to run."""

from __future__ import annotations

__all__ = ["refuse_reach"]

from collections.abc import Mapping
from typing import Any

from pytest_evalplug.errors import ConfigError
from pytest_evalplug.model.transport import is_loopback

_CODE = ("trust_remote_code", "model_kwargs", "ray_address")


def refuse_reach(saved: Any, what: str, fix: str) -> None:
    """Raise ConfigError if saved settings would send a key elsewhere, or run what others wrote.

    That is a ``base_url`` which is not this machine's, ``trust_remote_code`` and its like. ``what``
    names the settings, ``fix`` says how to give them oneself.
    """
    if isinstance(saved, Mapping):
        url = saved.get("base_url")
        if isinstance(url, str) and not is_loopback(url):
            raise ConfigError(f"the saved run may not choose the server of {what}", fix=fix)
        for name in _CODE:
            if saved.get(name):
                raise ConfigError(f"the saved run may not set {name} of {what}", fix=fix)
        saved = list(saved.values())
    if isinstance(saved, (list, tuple)):
        for entry in saved:
            refuse_reach(entry, what, fix)
