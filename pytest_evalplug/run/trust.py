"""What a saved run may not decide, as it may come from anywhere: whom to ask, whose code to run."""

from __future__ import annotations

__all__ = ["refuse_reach"]

from collections.abc import Collection, Mapping
from typing import Any

from pytest_evalplug.errors import ConfigError
from pytest_evalplug.model.spec import OpenAIOptions, resolve_model
from pytest_evalplug.model.transport import is_loopback, shown_url

_CODE = ("trust_remote_code", "model_kwargs", "ray_address")
_KEY = "OPENAI_API_KEY"


def refuse_reach(saved: Any, what: str, fix: str, keys: Collection[str] = ()) -> None:
    """Raise ConfigError if saved settings would send a key elsewhere, or run what others wrote.

    That is a server which is not this machine's, in a ``base_url`` or ``openai:<model>@<url>``; a
    variable of the environment that is neither ``OPENAI_API_KEY`` nor among ``keys``, those of the
    user's own tables; ``trust_remote_code`` and its like. ``what`` names the settings, ``fix`` says
    how to give them oneself.
    """
    if isinstance(saved, str):
        _refuse_server(_url_of(saved), what, fix)
    elif isinstance(saved, Mapping):
        _refuse_server(saved.get("base_url"), what, fix)
        key = saved.get("api_key_env")
        if key is not None and key != _KEY and key not in keys:
            raise ConfigError(f"the saved run may not choose the key of {what} ({key})", fix=fix)
        for name in _CODE:
            if saved.get(name):
                raise ConfigError(f"the saved run may not set {name} of {what}", fix=fix)
        saved = list(saved.values())
    if isinstance(saved, (list, tuple)):
        for entry in saved:
            refuse_reach(entry, what, fix, keys)


def _url_of(text: str) -> str | None:
    """Return the URL of an ad hoc ``openai:<model>@<url>``, read as a judge would be."""
    if not text.startswith("openai:"):
        return None
    try:
        options = resolve_model(text, {}).options
    except ConfigError:
        return None  # no judge could be made of it
    return options.base_url if isinstance(options, OpenAIOptions) else None


def _refuse_server(url: Any, what: str, fix: str) -> None:
    if not isinstance(url, str):
        return
    try:
        if is_loopback(url):
            return
        shown = shown_url(url)
    except ValueError:
        shown = "no URL"
    raise ConfigError(f"the saved run may not choose the server of {what} ({shown})", fix=fix)
