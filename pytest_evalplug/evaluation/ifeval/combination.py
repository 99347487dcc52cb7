"""Instructions ``combination:...``: two responses, or the request and then a response."""

from __future__ import annotations

__all__ = ["repeat_prompt", "two_responses"]


def two_responses(reply: str) -> bool:
    """``******`` parts the reply into two responses that differ.

    Before the first and after the last ``******`` there may be nothing.
    """
    parts = [part.strip() for part in reply.split("******")]
    responses = [part for part in parts if part]
    return all(parts[1:-1]) and len(responses) == 2 and responses[0] != responses[1]


def repeat_prompt(reply: str, *, prompt_to_repeat: str) -> bool:
    """The reply begins with ``prompt_to_repeat``, whatever the case."""
    return reply.strip().lower().startswith(prompt_to_repeat.strip().lower())
