"""A model input with the tokens that are scored at its end."""

from __future__ import annotations

__all__ = ["Scored"]

from typing import NamedTuple


class Scored(NamedTuple):
    """A model input and the target tokens at its end; the target ends one token after it."""

    ids: tuple[int, ...]
    target: tuple[int, ...]
