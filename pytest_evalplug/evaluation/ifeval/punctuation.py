"""Instruction ``punctuation:no_comma``."""

from __future__ import annotations

__all__ = ["no_comma"]


def no_comma(reply: str) -> bool:
    """The reply has no ASCII comma."""
    return "," not in reply
