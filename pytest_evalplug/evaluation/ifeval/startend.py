"""Instructions ``startend:...``: how the reply begins and ends."""

from __future__ import annotations

__all__ = ["end_checker", "quotation"]


def end_checker(reply: str, *, end_phrase: str) -> bool:
    """The reply ends with ``end_phrase``, whatever the case and with or without a ``"``."""
    return reply.strip().strip('"').lower().endswith(end_phrase.strip().lower())


def quotation(reply: str) -> bool:
    """The reply begins and ends with a ``"``, and they are two."""
    text = reply.strip()
    return len(text) > 1 and text[0] == text[-1] == '"'
